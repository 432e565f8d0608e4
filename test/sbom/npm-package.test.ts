/** Bills of materials by CycloneDX 1.6. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../setup/sbom/document.ts';
import { type Manifest, sbomOf } from '../../setup/sbom/npm-package.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const tarball = new TextEncoder().encode('abc');

const manifest: Manifest = {
  name: '@scope/own',
  version: '1.2.3',
  license: 'Apache-2.0',
  dependencies: { a: '1.0.0', '@other/b': '2.0.0' },
};
const lock: Lock = {
  packages: {
    '': { version: '9.9.9' },
    'node_modules/a': {
      version: '1.0.0',
      license: 'MIT',
      dependencies: { c: '^1' },
      integrity: 'sha512-AAEC',
    },
    'node_modules/a/node_modules/c': { version: '1.5.0' },
    'node_modules/c': { version: '3.0.0' },
    'node_modules/@other/b': {
      version: '2.0.0',
      dependencies: { a: '*', c: '^3' },
      optionalDependencies: { missing: '*' },
    },
    'node_modules/unused': { version: '1.0.0' },
  },
};

describe('the bill of materials', () => {
  it('has the package with the hash of its tarball', () => {
    expect(JSON.parse(sbomOf(manifest, lock, tarball)).metadata.component).toEqual({
      type: 'application',
      'bom-ref': 'pkg:npm/%40scope/own@1.2.3',
      group: '@scope',
      name: 'own',
      version: '1.2.3',
      purl: 'pkg:npm/%40scope/own@1.2.3',
      licenses: [{ expression: 'Apache-2.0' }],
      hashes: [
        { alg: 'SHA-256', content: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
      ],
    });
  });

  it('has what the package needs, each version once, and who needs it', () => {
    const { components, dependencies } = JSON.parse(sbomOf(manifest, lock, tarball));
    expect(components).toEqual([
      {
        ...{
          type: 'library',
          'bom-ref': 'pkg:npm/%40other/b@2.0.0',
          group: '@other',
          name: 'b',
          version: '2.0.0',
        },
        purl: 'pkg:npm/%40other/b@2.0.0',
      },
      {
        ...{
          type: 'library',
          'bom-ref': 'pkg:npm/a@1.0.0',
          name: 'a',
          version: '1.0.0',
          purl: 'pkg:npm/a@1.0.0',
        },
        licenses: [{ expression: 'MIT' }],
        hashes: [{ alg: 'SHA-512', content: '000102' }],
      },
      { type: 'library', 'bom-ref': 'pkg:npm/c@1.5.0', name: 'c', version: '1.5.0', purl: 'pkg:npm/c@1.5.0' },
      { type: 'library', 'bom-ref': 'pkg:npm/c@3.0.0', name: 'c', version: '3.0.0', purl: 'pkg:npm/c@3.0.0' },
    ]);
    expect(dependencies).toEqual([
      { ref: 'pkg:npm/%40scope/own@1.2.3', dependsOn: ['pkg:npm/%40other/b@2.0.0', 'pkg:npm/a@1.0.0'] },
      { ref: 'pkg:npm/a@1.0.0', dependsOn: ['pkg:npm/c@1.5.0'] },
      { ref: 'pkg:npm/%40other/b@2.0.0', dependsOn: ['pkg:npm/a@1.0.0', 'pkg:npm/c@3.0.0'] },
      { ref: 'pkg:npm/c@1.5.0', dependsOn: [] },
      { ref: 'pkg:npm/c@3.0.0', dependsOn: [] },
    ]);
  });

  it('fails where the lock lacks a package', () => {
    const broken = { ...manifest, dependencies: { gone: '1.0.0' } };
    expect(() => sbomOf(broken, lock, tarball)).toThrow(
      /has no gone, which pkg:npm\/%40scope\/own@1\.2\.3 needs/,
    );
  });

  it('is the same for the same sources, and another for others', () => {
    const first = sbomOf(manifest, lock, tarball);
    expect(sbomOf(manifest, lock, tarball)).toBe(first);
    const other = JSON.parse(sbomOf({ ...manifest, version: '1.2.4' }, lock, tarball));
    expect(other.serialNumber).not.toBe(JSON.parse(first).serialNumber);
  });

  /** Of schema/bom-1.6.schema.json: what must be there, the forms of texts, and references that lead somewhere. */
  it('of the service itself has all that the format requires', () => {
    const bom = JSON.parse(sbomOf(read('package.json'), read('package-lock.json'), tarball));
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bom.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    );
    const all = [bom.metadata.component, ...bom.components];
    const refs = new Set(all.map((one) => one['bom-ref']));
    expect(refs.size).toBe(all.length);
    expect(all.filter(({ type, name }) => !/^(application|library)$/.test(type) || name === '')).toEqual([]);
    expect(all.filter(({ purl }) => !/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d[\w.+-]*$/.test(purl))).toEqual([]);
    const hashes = all.flatMap(({ hashes = [] }) => hashes);
    expect(hashes.filter(({ content }) => !/^([0-9a-f]{64}|[0-9a-f]{128})$/.test(content))).toEqual([]);
    expect(new Set(bom.dependencies.map(({ ref }: { ref: string }) => ref))).toEqual(refs);
    const needed = bom.dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn);
    expect(needed.filter((ref: string) => !refs.has(ref))).toEqual([]);
    expect(needed).toContain(`pkg:npm/zod@${read('package-lock.json').packages['node_modules/zod'].version}`);
  });
});
