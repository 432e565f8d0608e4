/** The document of ways around the rules of networks: each is a test by that very name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const document = 'docs/internals/egress-ways.md';
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Rows of the tables: a way, what happens, and the file of its test. */
const ways = [...read(document).matchAll(/^\| ([^|]+) \| [^|]+ \| `(test\/[^`]+)` \|$/gm)].map(
  ([, name = '', file = '']) => ({ name: name.replaceAll('\\', ''), file }),
);

/** Texts in quotes that a file holds, and keys that need none. */
function namesOf(file: string): Set<string> {
  const text = read(file);
  const quoted = [...text.matchAll(/'([^'\n]+)'/g)].map(([, name = '']) => name);
  return new Set([...quoted, ...[...text.matchAll(/^ {2}(\w+): /gm)].map(([, key = '']) => key)]);
}

describe('ways around the rules of networks', () => {
  it('are sixty at least, each named once', () => {
    const named = ways.map(({ name, file }) => `${file}: ${name}`);
    expect(named.length).toBeGreaterThanOrEqual(60);
    expect(named.filter((one, at) => named.indexOf(one) !== at)).toEqual([]);
  });

  it('are tests by their names', () => {
    expect(
      ways.filter(({ name, file }) => !existsSync(join(root, file)) || !namesOf(file).has(name)),
    ).toEqual([]);
  });
});
