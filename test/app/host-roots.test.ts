/** Certificates of the host, for images without any. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostRoots } from '../../src/app/engine/engine.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-roots-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

it('are the first bundle that is there', () => {
  const bundles = [
    join(folder, 'none'),
    folder,
    file('empty', ''),
    file('first', PEM),
    file('second', `x${PEM}`),
  ];
  expect(hostRoots('', bundles)).toBe(PEM);
});

it('are the named bundle alone, where one is named', () => {
  expect(hostRoots(file('named', PEM), [])).toBe(PEM);
  expect(hostRoots(join(folder, 'none'), [file('first', PEM)])).toBeNull();
});

it('are none where a bundle is too large', () => {
  expect(hostRoots('', [file('large', PEM + 'x'.repeat(1024 ** 2))])).toBeNull();
});
