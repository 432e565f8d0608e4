/** The npm packages as `make dist-npm` writes them: what is in each, and their sums. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll } from '../../setup/release/dist-npm.ts';
import { root, succeeds } from '../support/sdk-package.ts';

let folder: string;
let version: string;

beforeAll(async () => {
  version = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version;
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-dist-'));
  // What another step has put there stays, and what has gone since leaves the list.
  await writeFile(join(folder, 'other.deb'), 'x');
  const sum = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
  await writeFile(join(folder, 'SHA256SUMS'), `${sum}  other.deb\n${'0'.repeat(64)}  gone.tgz\n`);
  await packAll(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const contents = async (name: string) =>
  (await succeeds('tar', ['-tzf', `sandhaven-${name}-${version}.tgz`], folder)).trim().split('\n').toSorted();

const modules = (...names: string[]) =>
  names.flatMap((name) => [`package/dist/${name}.d.ts`, `package/dist/${name}.js`]);

describe('the npm packages', () => {
  it('are these files', async () => {
    expect((await readdir(folder)).toSorted()).toEqual([
      'SHA256SUMS',
      'other.deb',
      `sandhaven-cli-${version}.cdx.json`,
      `sandhaven-cli-${version}.tgz`,
      `sandhaven-mcp-${version}.cdx.json`,
      `sandhaven-mcp-${version}.tgz`,
      `sandhaven-sdk-${version}.cdx.json`,
      `sandhaven-sdk-${version}.tgz`,
    ]);
  });

  it('hold the SDK with its types, and none of its sources', async () => {
    expect(await contents('sdk')).toEqual([
      'package/LICENSE',
      'package/README.md',
      ...modules('access', 'administration', 'builds', 'call', 'changes', 'connection', 'contexts', 'errors'),
      ...modules('events', 'files'),
      ...modules(
        'generated',
        'handle-options',
        'health',
        'index',
        'node-fetch',
        'output',
        'pages',
        'preview',
      ),
      ...modules('processes', 'reconnecting'),
      ...modules('sandbox-handle', 'sessions', 'snapshots', 'watching'),
      'package/package.json',
    ]);
  });

  it('hold the bridge, which nothing imports', async () => {
    expect(await contents('mcp')).toEqual([
      'package/LICENSE',
      'package/README.md',
      ...['answer', 'bounds', 'bridge', 'events', 'exchange', 'failure', 'help', 'key', 'lines', 'main'].map(
        (name) => `package/dist/${name}.js`,
      ),
      ...['messages', 'options', 'output', 'parse', 'refusal', 'watch'].map(
        (name) => `package/dist/${name}.js`,
      ),
      'package/package.json',
    ]);
  });

  it.each(['sdk', 'mcp'])('have in %s what npm needs to know, and no dependency', async (name) => {
    const text = await succeeds(
      'tar',
      ['-xzOf', `sandhaven-${name}-${version}.tgz`, 'package/package.json'],
      folder,
    );
    const manifest = JSON.parse(text);
    expect(manifest).toMatchObject({
      ...{ name: `@sandhaven/${name}`, version, license: 'Apache-2.0', type: 'module', files: ['dist'] },
      engines: { node: '>=20' },
    });
    for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies', 'private']) {
      expect(manifest[field]).toBeUndefined();
    }
    // Nothing runs at an install.
    expect(Object.keys(manifest.scripts ?? {})).toEqual(['build']);
  });

  it('hold the command line, with all that it loads, and nothing of the service', async () => {
    const files = await contents('cli');
    expect(files).toEqual(
      expect.arrayContaining([
        ...['package/LICENSE', 'package/README.md', 'package/package.json', 'package/dist/package.json'],
        ...['package/dist/packages/cli/src/main.js', 'package/dist/src/surfaces/cli/commands/cli.js'],
        'package/dist/bin/sandhaven-askpass',
      ]),
    );
    const within = (start: string) => files.filter((file) => file.startsWith(start));
    const folders = new Set(within('package/dist/src/').map((file) => file.split('/')[3]));
    expect([...folders].toSorted()).toEqual(
      ['administration', 'catalog', 'concurrency', 'home.js', 'model', 'surfaces'].toSorted(),
    );
    const others = new Set(within('package/node_modules/').map((file) => file.split('/')[2]));
    expect([...others].toSorted()).toEqual(['tldts', 'tldts-core', 'ws', 'zod']);
    for (const name of others) {
      expect(
        within(`package/node_modules/${name}/`).filter((file) => /licen[cs]e/i.test(file)),
        name,
      ).toHaveLength(1);
    }
    expect(files.filter((file) => /\.(?:node|ts)$/.test(file))).toEqual([]);
  });

  it('have the licence of the project', async () => {
    const licence = await readFile(join(root, 'LICENSE'), 'utf8');
    for (const source of ['sdk', 'packages/mcp', 'packages/cli']) {
      expect(await readFile(join(root, source, 'LICENSE'), 'utf8')).toBe(licence);
    }
  });

  it('have sums that hold, beside those of other files', async () => {
    expect(await succeeds('sha256sum', ['--check', '--strict', 'SHA256SUMS'], folder)).toBe(
      [
        'other.deb: OK',
        `sandhaven-cli-${version}.cdx.json: OK`,
        `sandhaven-cli-${version}.tgz: OK`,
        `sandhaven-mcp-${version}.cdx.json: OK`,
        `sandhaven-mcp-${version}.tgz: OK`,
        `sandhaven-sdk-${version}.cdx.json: OK`,
        `sandhaven-sdk-${version}.tgz: OK\n`,
      ].join('\n'),
    );
  });
});
