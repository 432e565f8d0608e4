/** A library with two builds, for `import` and for `require`, is in the memory of a service once. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** Loads what a service with a document database has loaded after its first query, and prints the files of BSON's library. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const files = new Set();
registerHooks({
  load(url, context, next) {
    const [, file] = /node_modules\\/bson\\/(.*)/.exec(url) ?? [];
    if (file) files.add(file);
    return next(url, context);
  },
});
await import(${source('app/up.ts')});
await import(${source('documentdb/database.ts')});
await import('mongodb');
console.log(JSON.stringify([...files]));
`;

it('the service loads one build of the library of BSON, that of the driver', () => {
  const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM];
  const { stdout } = spawnSync(process.execPath, node, { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual(['lib/bson.cjs']);
});
