/** One version: package.json has it, and every other place the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { versionsIn } from '../../setup/release/places.ts';
import { compareVersions, isVersion } from '../../setup/release/version.ts';
import { version } from '../../src/home.ts';
import { openApi } from '../../src/surfaces/http/openapi/openapi.ts';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

it('is the same everywhere', () => {
  const found = [...versionsIn(root)];
  expect(found.map(([file]) => file)).toEqual(
    expect.arrayContaining([
      'sdk/package.json',
      'packages/cli/package.json',
      'packages/mcp/package.json',
      'native/agent/Cargo.toml',
      'native/Cargo.lock',
      'deploy/helm/sandhaven/Chart.yaml',
    ]),
  );
  expect(found.filter(([, versions]) => versions.some((one) => one !== manifest.version))).toEqual([]);
});

it('is that of the service, and of its OpenAPI', () => {
  expect(version).toBe(manifest.version);
  expect(openApi(version)).toMatchObject({ info: { version: manifest.version } });
});

it.each([
  ['0.1.0', true],
  ['1.0.0-rc.1', true],
  ['10.20.30', true],
  ['v1.0.0', false],
  ['1.0', false],
  ['01.0.0', false],
  ['1.0.0-01', false],
  ['1.0.0+build', false],
  ['1.0.0\n', false],
  ['', false],
])('%j is a version: %s', (text, expected) => {
  expect(isVersion(text)).toBe(expected);
});

it('orders versions as Semantic Versioning does', () => {
  const ordered = [
    ...['0.9.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2'],
    ...['1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'],
  ];
  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
});
