/** Values of parameters on both sides of their bounds, by the table alone. */
import type { Parameter, Rules, ToolContract } from './notation.ts';

/** Gives every required parameter, and one of those of which one is required. */
export function leastCall({ parameters, atLeastOneOf = [] }: ToolContract): Record<string, unknown> {
  const needed = Object.entries(parameters).filter(
    ([name, { required }]) => required || name === atLeastOneOf[0],
  );
  return Object.fromEntries(needed.map(([name, parameter]) => [name, sampleOf(parameter)]));
}

/** Adds a value for one parameter, and the others without which it has no effect. */
export function callWith(tool: ToolContract, parameter: string, value: unknown): Record<string, unknown> {
  return { ...leastCall(tool), ...tool.parameters[parameter]?.beside, [parameter]: value };
}

export function sampleOf({ type, values, takes, beginning, min }: Parameter): unknown {
  if (values) return values[0];
  if (takes) return takes[0];
  return { string: beginning ?? 'x', integer: min, boolean: true, json: {}, strings: ['x'], either: null }[
    type
  ];
}

/** Lists the last values that are taken. */
export function atBounds(parameter: Parameter): unknown[] {
  const { type, values, min, max, minItems = 0, maxItems, items = {}, keys = {}, takes = [] } = parameter;
  if (values) return [...values];
  switch (type) {
    case 'integer':
      return [min, max, ...takes];
    case 'boolean':
      return [true, false];
    case 'string':
      return [...textsAtBounds(parameter), ...takes];
    case 'json':
      return [...nested(keys, atBounds), ...takes];
    case 'strings':
      return [
        ...(maxItems === undefined ? [] : [listOf(minItems), listOf(maxItems)]),
        ...textsAtBounds(items).map((text) => [text]),
        ...takes,
      ];
    case 'either':
      return [...takes];
  }
}

/** Lists the first values that are refused. */
export function beyondBounds(parameter: Parameter): unknown[] {
  const { type, values, min = 0, max = 0, minItems = 0, maxItems, items = {}, keys = {} } = parameter;
  const refuses = parameter.refuses ?? [];
  if (values) return ['', `${values[0]}s`, `${values[0]}`.toUpperCase()];
  switch (type) {
    case 'integer':
      return [min - 1, max + 1, ...refuses];
    case 'boolean':
      return [];
    case 'string':
      return [...textsBeyondBounds(parameter), ...refuses];
    case 'json':
      return [...nested(keys, beyondBounds), ...refuses];
    case 'strings':
      return [
        ...(minItems === 0 ? [] : [listOf(minItems - 1)]),
        ...(maxItems === undefined ? [] : [listOf(maxItems + 1)]),
        ...[...textsBeyondBounds(items), ...(items.refuses ?? [])].map((text) => ['x', text]),
        ...refuses,
      ];
    case 'either':
      return [...refuses];
  }
}

function nested(keys: Record<string, Parameter>, valuesOf: (parameter: Parameter) => unknown[]): unknown[] {
  return Object.entries(keys).flatMap(([key, parameter]) =>
    valuesOf(parameter).map((value) => ({ [key]: value })),
  );
}

function listOf(items: number): string[] {
  return Array<string>(items).fill('x');
}

/** Leaves out the least length of a text with a beginning: it is valid from there on. */
function textsAtBounds({ pattern, minChars, maxChars, maxBytes, beginning }: Rules): string[] {
  const lengths = [beginning === undefined ? minChars : undefined, maxChars, maxBytes];
  const texts = lengths.filter((length) => length !== undefined).map((length) => textOf(length, beginning));
  const wide = maxBytes === undefined ? [] : [wideTextOf(maxBytes)];
  const plain = pattern === undefined && texts.length === 0 ? ['', 'x'] : [];
  return [...plain, ...texts, ...wide];
}

function textsBeyondBounds({ minChars = 0, maxChars, maxBytes, beginning }: Rules): string[] {
  return [
    ...(minChars === 0 ? [] : [textOf(minChars - 1)]),
    ...(maxChars === undefined ? [] : [textOf(maxChars + 1, beginning)]),
    ...(maxBytes === undefined ? [] : [textOf(maxBytes + 1), wideTextOf(maxBytes + 1)]),
  ];
}

function textOf(chars: number, beginning = ''): string {
  return beginning + 'x'.repeat(chars - beginning.length);
}

/** Makes a text of fewer characters than bytes. */
function wideTextOf(bytes: number): string {
  return 'x'.repeat(bytes % 2) + 'ä'.repeat(Math.floor(bytes / 2));
}
