/**
 * Checks parameters before any work, and describes their faults in one error: the parameter, the rule, the given value.
 * Values of parameters marked `sensitive` are never repeated.
 */
import { z } from 'zod';
import { invalidArgument, SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { nearest } from '../model/nearest.ts';

const FAULTS_SHOWN = 5;
/** A hostile request may be wrong in a million places. */
const FAULTS_EXPLAINED = 50;
const VALUE_CHARS = 60;

interface Fault {
  /** Dotted path into an object; for a list, the list itself. */
  parameter: string;
  sentence: string;
  hint?: string | undefined;
}

/** Throws `invalid_argument` naming the first parameter at fault; the detail names up to five. */
export function validateInput<T extends z.ZodObject>(schema: T, raw: unknown): z.output<T> {
  assertFewEntries(raw);
  const parsed = schema.safeParse(raw === undefined ? {} : withoutNulls(schema, raw));
  if (parsed.success) return parsed.data;
  // Unknown names first: a misspelled name is the likeliest reason for a missing parameter.
  const issues = parsed.error.issues
    .toSorted((a, b) => Number(b.code === 'unrecognized_keys') - Number(a.code === 'unrecognized_keys'))
    .slice(0, FAULTS_EXPLAINED);
  const faults = onePerParameter(issues.flatMap((issue) => explain(schema, raw, issue)));
  const [first] = faults;
  throw new SandhavenError(
    'invalid_argument',
    faults
      .slice(0, FAULTS_SHOWN)
      .map(({ sentence }) => sentence)
      .join(' '),
    {
      ...(first?.parameter ? { parameter: first.parameter } : {}),
      ...(first?.hint ? { hint: first.hint } : {}),
    },
  );
}

/**
 * Rejects huge objects and lists early: each entry may be a fault, and every fault is built before the first is shown.
 */
function assertFewEntries(raw: unknown): void {
  if (typeof raw !== 'object' || raw === null) return;
  for (const [name, value] of Object.entries(raw).slice(0, FAULTS_EXPLAINED)) {
    if (typeof value !== 'object' || value === null) continue;
    const entries = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (entries <= limits.json.parameterEntries) continue;
    const parameter = shorten(name);
    throw invalidArgument(
      parameter,
      `${parameter} has ${entries} entries; no parameter has more than ${limits.json.parameterEntries}.`,
    );
  }
}

function onePerParameter(faults: Fault[]): Fault[] {
  const seen = new Map(faults.toReversed().map((fault) => [fault.parameter, fault]));
  return faults.filter((fault) => seen.get(fault.parameter) === fault);
}

function explain(schema: z.ZodObject, raw: unknown, issue: z.core.$ZodIssue): Fault[] {
  const inside = issue.code === 'invalid_union' ? issuesInside(issue) : [];
  if (inside.length > 0)
    return inside.slice(0, FAULTS_EXPLAINED).flatMap((inner) => explain(schema, raw, inner));
  if (issue.code === 'unrecognized_keys') {
    const inside = issue.path.map(String);
    return issue.keys.slice(0, FAULTS_EXPLAINED).map((key) => {
      return inside.length > 0 ? unknownKey(schema, inside, key) : unknownParameter(schema, key);
    });
  }
  const element = issue.path.findIndex((part) => typeof part === 'number');
  const parameter = placeOf(element === -1 ? issue.path : issue.path.slice(0, element));
  const place = placeOf(issue.path);
  if (parameter === '') {
    const given = typeof raw === 'string' ? 'a string' : show(raw);
    const sentence = `The parameters must be a JSON object; ${given} was given.`;
    return [{ parameter, sentence }];
  }
  const [top] = issue.path;
  const meta = schema.shape[String(top)]?.meta();
  const given = valueAt(raw, issue.path);
  const hint = meta?.description ? `${String(top)}: ${meta.description}` : undefined;
  // A remaining null stands for a required parameter, or in a map.
  const missing = given === undefined || (given === null && issue.path.length === 1);
  if (missing && issue.code !== 'custom') {
    return [{ parameter, sentence: `${place} is required.`, hint }];
  }
  const givenClause =
    issue.code === 'custom' || meta?.['sensitive'] === true ? '' : `; ${show(given)} was given`;
  const better = issue.code === 'invalid_type' ? typeHint(issue.expected, given) : undefined;
  return [{ parameter, sentence: `${place} ${rule(issue)}${givenClause}.`, hint: better ?? hint }];
}

function unknownParameter(schema: z.ZodObject, key: string): Fault {
  const known = Object.keys(schema.shape);
  const [close] = nearest(key, known);
  const shown = shorten(key);
  const all = known.length > 0 ? `The parameters are ${known.join(', ')}.` : 'It takes no parameters.';
  return {
    parameter: shown,
    sentence: `There is no parameter ${JSON.stringify(shown)}.`,
    hint: close ? `Did you mean ${close}? ${all}` : all,
  };
}

/** Explains an unknown key in a parameter that is an object with keys of its own. */
function unknownKey(schema: z.ZodObject, inside: string[], key: string): Fault {
  const shown = shorten(key);
  const described = schema.shape[inside[0] ?? '']?.meta()?.description;
  return {
    parameter: [...inside, shown].join('.'),
    sentence: `${inside.join('.')} has an unknown key, ${JSON.stringify(shown)}.`,
    hint: described ? `${inside[0]}: ${described}` : undefined,
  };
}

/** Returns `labels.team`, `pipeline[2]`. */
function placeOf(path: PropertyKey[]): string {
  return path
    .map((part, depth) => {
      if (typeof part === 'number') return `[${part}]`;
      return depth === 0 ? shorten(String(part)) : `.${shorten(String(part))}`;
    })
    .join('');
}

/** Continues a sentence that begins with the place. */
function rule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => String(value)).join(', ')}`;
    case 'invalid_union':
      return `must be ${kindsOf(issue, (type) => typeNames[type] ?? type)}`;
    default:
      return issue.message;
  }
}

const typeNames: Record<string, string> = {
  int: 'an integer',
  // No parameter is a number with a fraction.
  number: 'an integer',
  string: 'a string',
  boolean: 'true or false',
  record: 'a JSON object',
  object: 'a JSON object',
  array: 'a JSON array',
};

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' ? ' items long' : '';
}

function typeHint(expected: string, given: unknown): string | undefined {
  if (typeof given !== 'string' || expected === 'string') return undefined;
  return `Give ${typeNames[expected] ?? expected}, not text.`;
}

function valueAt(raw: unknown, path: PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function shorten(text: string): string {
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS)}…`;
}

/**
 * Removes nulls as deep as the schema has objects with named keys. In a map, such as labels, null is no value and
 * stays.
 */
function withoutNulls(schema: z.ZodObject, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const given = raw as Record<string, unknown>;
  let changed: Record<string, unknown> | undefined;
  for (const [key, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(given, key)) continue;
    const value = given[key];
    const kept = value === null && isOptional(field) ? undefined : inner(field as z.core.$ZodType, value);
    if (kept === value) continue;
    changed ??= { ...given };
    if (kept === undefined) delete changed[key];
    else changed[key] = kept;
  }
  return changed ?? raw;
}

function isOptional(field: z.core.$ZodType): boolean {
  return z.safeParse(field, undefined).success;
}

function inner(field: z.core.$ZodType, value: unknown): unknown {
  let type = field;
  while (type instanceof z.ZodOptional || type instanceof z.ZodDefault) type = type.unwrap();
  const object = type instanceof z.ZodUnion ? type.options.find((one) => one instanceof z.ZodObject) : type;
  return object instanceof z.ZodObject ? withoutNulls(object, value) : value;
}

/** Faults of a parameter that takes a value of one of several kinds. */
type Issue = z.core.$ZodIssue;

/**
 * Returns the issues inside the kind that was meant, at their places in the input; none when the value is of no kind.
 * An object is meant when something in it is wrong, and not the object itself.
 */
function issuesInside(issue: z.core.$ZodIssueInvalidUnion): Issue[] {
  const meant = issue.errors.find((issues) => issues.some(isInside)) ?? [];
  return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Lists the kinds: `open, none or a JSON object`. */
function kindsOf(issue: z.core.$ZodIssueInvalidUnion, nameOf: (type: string) => string): string {
  const kinds = issue.errors.flatMap(([first]) => {
    if (first?.code === 'invalid_value') return first.values.map(String);
    return first?.code === 'invalid_type' ? [nameOf(first.expected)] : [];
  });
  return `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
}

function isInside({ code, path }: Issue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}
