/**
 * Tracks the callers' variables in scope of an expression, as a chain: each link holds the additions of one
 * operator, so a query cannot make the guard copy its surroundings repeatedly.
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
