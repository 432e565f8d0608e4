/**
 * The parts of the service's package in CycloneDX 1.6, of the two lock files. Cargo's also names what only tests of the native
 * programs use.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { productionPackages } from '../../images/production-packages.ts';
import type { Made } from './service-package.ts';

interface Component {
  type: 'library' | 'application';
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
  licenses?: { expression: string }[];
}

interface Locked {
  version: string;
  integrity?: string;
  license?: string;
}

export async function sbom({ home, version, epoch, processor }: Made): Promise<string> {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    await readFile(join(home, 'package-lock.json'), 'utf8'),
  );
  const node = processor.node.replace(/\/bin\/node$/, '');
  const npm = [...(await productionPackages(home)), node].map((path) => ofNpm(path, lock.packages[path]));
  const cargo = ofCargo(await readFile(join(home, 'native/Cargo.lock'), 'utf8'));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        name: 'sandhaven',
        version,
        purl: `pkg:deb/sandhaven@${version}?arch=${processor.debian}`,
      },
    },
    components: [...npm, ...cargo].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function ofNpm(path: string, locked: Locked | undefined): Component {
  if (!locked) throw new Error(`package-lock.json has no ${path}`);
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, integrity, license } = locked;
  const [algorithm, digest] = integrity?.split('-') ?? [];
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(algorithm === 'sha512' && digest
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
    ...(license ? { licenses: [{ expression: license }] } : {}),
  };
}

/** Crates of a registry; those of the project have no source. */
function ofCargo(lock: string): Component[] {
  return lock
    .split('[[package]]')
    .filter((part) => part.includes('\nsource = '))
    .map((part) => {
      const field = (name: string) => new RegExp(`^${name} = "([^"]+)"$`, 'm').exec(part)?.[1] ?? '';
      const [name, version] = [field('name'), field('version')];
      return {
        type: 'library' as const,
        name,
        version,
        purl: `pkg:cargo/${name}@${version}`,
        hashes: [{ alg: 'SHA-256', content: field('checksum') }],
      };
    });
}
