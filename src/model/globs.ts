/**
 * Globs of paths, as Dockerfiles and `.dockerignore` have them: `*`, `?` and `[a-z]` within one name, `**` over any number
 * of folders. The time to match is bounded by pattern times path, whatever a pattern looks like.
 */

/** Returns the names of a path or pattern without `.`, `..` and empty ones, as Go's `filepath.Clean` would below the root. */
export function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names;
}

export const hasGlob = (text: string): boolean => /[*?[\\]/.test(text);

/** Matches a whole path. @param pattern From `namesOf`. */
export function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  return matchesAll(pattern, path, (one, name) => (one === '**' ? 'any' : matchesName(one, name)));
}

/** Matches one name. A backslash makes the next character stand for itself. */
function matchesName(pattern: string, name: string): boolean {
  return matchesAll(tokensOf(pattern), [...name], (token, character) =>
    token === '*' ? 'any' : token.has(character),
  );
}

interface CharacterSet {
  has(character: string): boolean;
}

function tokensOf(pattern: string): ('*' | CharacterSet)[] {
  const tokens: ('*' | CharacterSet)[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    const end = character === '[' ? characters.indexOf(']', at + 2) : -1;
    if (character === '*') tokens.push('*');
    else if (character === '?') tokens.push({ has: () => true });
    else if (end > 0) {
      tokens.push(setOf(characters.slice(at + 1, end)));
      at = end;
    } else {
      const literal = character === '\\' ? (characters[++at] ?? '\\') : character;
      tokens.push({ has: (other) => other === literal });
    }
  }
  return tokens;
}

function setOf(inside: string[]): CharacterSet {
  const isNegated = inside[0] === '^' || inside[0] === '!';
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at] ?? '';
    const last = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([first, last ?? first]);
    if (last !== undefined) at += 2;
  }
  return { has: (one) => ranges.some(([first, last]) => first <= one && one <= last) !== isNegated };
}

/** Matches a list with repeats by going back to the last repeat alone, which is enough for globs. */
function matchesAll<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  match: (one: P, item: T) => boolean | 'any',
): boolean {
  let [at, next] = [0, 0];
  let [repeat, resumed] = [-1, 0];
  while (next < items.length) {
    const outcome = at < pattern.length ? match(pattern[at] as P, items[next] as T) : false;
    if (outcome === 'any') {
      [repeat, resumed] = [at++, next];
    } else if (outcome) {
      at++;
      next++;
    } else if (repeat >= 0) {
      at = repeat + 1;
      next = ++resumed;
    } else return false;
  }
  while (at < pattern.length && match(pattern[at] as P, '' as T) === 'any') at++;
  return at === pattern.length;
}
