/**
 * The parts of the service's Debian package, of the two lock files and the list of wheels that it gives to users. Cargo's also
 * names what only tests of the native programs use.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Made } from '../debian/package/service-package.ts';
import { productionPackages } from '../images/production-packages.ts';
import { documentOf, type Lock, type Locked, ofCargo, ofNpm, ofPython, textOf } from './document.ts';

export async function sbomOfService({ home, version, epoch, processor }: Made): Promise<string> {
  const lock: Lock = JSON.parse(await readFile(join(home, 'package-lock.json'), 'utf8'));
  const node = processor.node.replace(/\/bin\/node$/, '');
  const npm = [...(await productionPackages(home)), node].map((path) =>
    ofNpm(nameIn(path), found(lock, path)),
  );
  const cargo = ofCargo(await readFile(join(home, 'native/Cargo.lock'), 'utf8'));
  const python = ofPython(await readFile(join(home, 'sdk-python/build/dependencies.txt'), 'utf8'));
  const purl = `pkg:deb/sandhaven@${version}?arch=${processor.debian}`;
  const document = documentOf({
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: 'application', name: 'sandhaven', version, purl },
    },
    components: [...npm, ...cargo, ...python].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  });
  return textOf(document);
}

function found({ packages }: Lock, path: string): Locked {
  const locked = packages[path];
  if (!locked) throw new Error(`package-lock.json has no ${path}`);
  return locked;
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
