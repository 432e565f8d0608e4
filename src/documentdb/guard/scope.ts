/**
 * The variables of callers that are known where an expression stands. A chain, each link with what one operator
 * adds: a query cannot make the guard copy what is around it again and again.
 */

export interface Scope {
  readonly names: ReadonlySet<string>;
  readonly around: Scope | null;
}

export const noVariables: Scope = { names: new Set(), around: null };

/** New variables beside those that are known. */
export function withVariables(around: Scope, names: Iterable<string>): Scope {
  return { names: new Set(names), around };
}

export function isKnown(scope: Scope, name: string): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.around) if (at.names.has(name)) return true;
  return false;
}

/** The innermost first. */
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
