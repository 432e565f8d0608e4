/**
 * Place of the guard in a query, as a caller would write it, with the refusals that name it; the callers' variables in
 * scope there.
 */
import { invalidArgument, type SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

/** A linked chain, so that descending costs nothing until a refusal. */
export interface Place {
  readonly parent: Place | null;
  readonly step: string | number;
}

export function placeOf(parameter: string): Place {
  return { parent: null, step: parameter };
}

export function within(parent: Place, step: string | number): Place {
  return { parent, step };
}

/** @param why Continues a sentence that begins with the place. */
export function refused(place: Place, why: string, hint: string): SandhavenError {
  return invalidArgument(parameterOf(place), `${placeText(place)} ${why}`, hint);
}

/** Returns `pipeline[2].$lookup.pipeline[0].$out`; the middle of a very long one is left out. */
export function placeText(place: Place): string {
  const steps: string[] = [];
  for (let at: Place | null = place; at !== null; at = at.parent) {
    steps.push(at.parent === null ? String(at.step) : stepText(at.step));
  }
  const text = steps.toReversed().join('');
  const { placeChars } = limits.documents;
  if (text.length <= placeChars) return text;
  const half = placeChars / 2;
  return `${text.slice(0, half).toWellFormed()}…${text.slice(-half).toWellFormed()}`;
}

/** Returns a JSON string that shows every character: a caller's text may hold invisible ones. */
export function quoted(text: string): string {
  const { placeKeyChars } = limits.documents;
  const shown = text.length > placeKeyChars ? `${text.slice(0, placeKeyChars)}…` : text;
  return JSON.stringify(shown).replace(/[\p{C}\p{Z}]/gu, (character) =>
    character === ' ' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  const plain = /^[\w$]+$/.test(step) && step.length <= limits.documents.placeKeyChars;
  return plain ? `.${step}` : `[${quoted(step)}]`;
}

function parameterOf(place: Place): string {
  return place.parent === null ? String(place.step) : parameterOf(place.parent);
}

/**
 * Tracks the callers' variables in scope of an expression, as a chain: each link holds the additions of one operator,
 * so a query cannot make the guard copy its surroundings repeatedly.
 */
export interface Scope {
  readonly names: ReadonlySet<string>;
  readonly around: Scope | null;
}

export const noVariables: Scope = { names: new Set(), around: null };

/** Returns a scope with new variables beside the known ones. */
export function withVariables(around: Scope, names: Iterable<string>): Scope {
  return { names: new Set(names), around };
}

export function isKnown(scope: Scope, name: string): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.around) if (at.names.has(name)) return true;
  return false;
}

/** Returns known names, innermost first. */
export function knownNames(scope: Scope, most: number): string[] {
  const names: string[] = [];
  for (let at: Scope | null = scope; at !== null && names.length < most; at = at.around) {
    for (const name of at.names) {
      if (names.length >= most) break;
      names.push(name);
    }
  }
  return names;
}
