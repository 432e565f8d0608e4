/** Tests write bounds as literals: one that takes its numbers from the code under test passes whatever they are. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf } from '../support/imports.ts';

const root = join(import.meta.dirname, '../..');

const COMPARES = 'compares a bound with a literal';
const LOWERS = 'compares a bound with a literal, and lowers it for a test: the real one takes too long';
const STANDS_IN = 'stands in for the store; the conformance tests hold its bounds as literals';

/** Files and folders that import bounds all the same, with the reason. */
const kept: Record<string, string> = {
  'test/contract/results.test.ts': COMPARES,
  'test/control/documents/shares.test.ts': COMPARES,
  'test/documentdb-unit/demo-data/shop.test.ts': COMPARES,
  'test/model/json-bounds.test.ts':
    'gives the bounds to what it tests, and has the values on both sides as literals',
  'test/model/secrets/secret.test.ts': COMPARES,
  'test/store/postgres/replicas.test.ts': 'compares bounds with each other',

  'test/documentdb/connection/bad-luck.test.ts': LOWERS,
  'test/oidc/failing-provider.test.ts': LOWERS,
  'test/store/conformance/device-sign-in-conformance.ts': LOWERS,
  'test/store/conformance/oauth-conformance.ts': LOWERS,

  'test/simulation/host/memory-replicas.ts': STANDS_IN,
  'test/store/memory/': STANDS_IN,
};

const importing = globSync('{test,sdk/test}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] }).filter(
  (file) =>
    importsOf(readFileSync(join(root, file), 'utf8')).some(({ target }) =>
      /^src\/model\/limits(?:\.ts$|\/)/.test(normalize(join(dirname(file), target))),
    ),
);
const isFor = (place: string) => (file: string) =>
  place.endsWith('/') ? file.startsWith(place) : file === place;

it('tests import no bounds', () => {
  const places = Object.keys(kept);
  expect(importing.filter((file) => !places.some((place) => isFor(place)(file)))).toEqual([]);
});

it('each exception is one', () => {
  expect(Object.keys(kept).filter((place) => !importing.some(isFor(place)))).toEqual([]);
});
