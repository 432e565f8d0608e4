/** Holds the citations of rules in tests against docs/contract.md: every rule is cited, and none that is not there. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rules } from './contract/document.ts';

const root = join(import.meta.dirname, '..');

describe('requirements', () => {
  it('are all found, each with a text', async () => {
    const page = await readFile(join(root, 'docs/contract.md'), 'utf8');
    expect(rules).toHaveLength([...page.matchAll(/^\W*(?:SBX|DDB|WIRE)-[A-Z]+-\d/gm)].length);
    expect(rules.length).toBeGreaterThan(300);
    expect(rules.filter(({ text }) => text.length <= 10)).toEqual([]);
  });

  it('have no id twice', () => {
    const ids = rules.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('are all there that a test cites', async () => {
    const known = new Set(rules.map(({ id }) => id));
    const cited = await citations();
    const unknown = [...cited].filter(([id]) => !known.has(id)).map(([id, file]) => `${id} in ${file}`);
    expect(unknown).toEqual([]);
  });

  it('are all cited', async () => {
    const cited = await citations();
    expect(rules.map(({ id }) => id).filter((id) => !cited.has(id))).toEqual([]);
  });

  it('are cited in brackets, several separated by commas, and not in comments', () => {
    expect(idsIn(`it('[SBX-FILES-12] reads', …`)).toEqual(['SBX-FILES-12']);
    expect(idsIn(`test.each(rows)(\`[SBX-A-01, WIRE-B-02] [DDB-C-3] \${x}\`, …`)).toEqual([
      'SBX-A-01',
      'WIRE-B-02',
      'DDB-C-3',
    ]);
    expect(idsIn(` * as in [SBX-FILES-12]\n  // [SBX-FILES-12]\n`)).toEqual([]);
  });
});

/** Every cited id with a file that cites it. */
async function citations(): Promise<Map<string, string>> {
  const files = [
    ...(await readAll('test/**/*.test.ts')).filter(({ file }) => file !== 'test/requirements.test.ts'),
    ...(await readAll('sdk/test/**/*.test.ts')),
  ];
  return new Map(files.flatMap(({ file, source }) => idsIn(source).map((id) => [id, file] as const)));
}

function idsIn(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\/|\/\*|\*).*$/gm, '');
  const bracketed = /\[((?:SBX|DDB|WIRE)-[A-Z0-9-]+(?:, (?:SBX|DDB|WIRE)-[A-Z0-9-]+)*)\]/g;
  return [...code.matchAll(bracketed)].flatMap((match) => (match[1] ?? '').split(', '));
}

async function readAll(pattern: string): Promise<{ file: string; source: string }[]> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: root, exclude: ['**/node_modules/**'] })) files.push(file);
  return Promise.all(files.map(async (file) => ({ file, source: await readFile(join(root, file), 'utf8') })));
}
