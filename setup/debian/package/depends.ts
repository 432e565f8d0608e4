/** Packages that the service needs at run time: the libraries of its Node, and the programs that it starts. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../command.ts';
import { isForeign, type Processor } from '../../processors/processor.ts';
import { downloadPackages } from '../packages.ts';

/** Started by the service (`doctor` looks for most of them), read by it (certificates, the allocator), or by the scripts. */
const PROGRAMS = [
  'adduser',
  'ca-certificates',
  'e2fsprogs',
  'iproute2',
  'libjemalloc2',
  'mount',
  'nftables',
  'skopeo',
  'zstd',
];

/** With the libraries that Node needs, in the oldest Debian that the package is for. */
const OLDEST = 'bookworm';
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6'];

/** The native programs are static; Node is not. */
export async function dependsOf(node: string, processor: Processor, work: string): Promise<string> {
  const source = join(work, 'shlibdeps');
  await mkdir(join(source, 'debian'), { recursive: true });
  await writeFile(
    join(source, 'debian/control'),
    'Source: sandhaven\n\nPackage: sandhaven\nArchitecture: any\n',
  );
  const places = isForeign(processor) ? await foreignLibraries(processor, work) : [];
  const argv = ['-O', '--ignore-missing-info', ...places.map((place) => `-S${place}`), node];
  const env = { DEB_HOST_ARCH: processor.debian };
  const found = await command('dpkg-shlibdeps', argv, { cwd: source, env });
  const libraries = /^shlibs:Depends=(.*)$/m.exec(found)?.[1];
  if (!libraries) throw new Error('dpkg-shlibdeps found no libraries of Node');
  return [...libraries.split(', '), ...PROGRAMS].sort().join(', ');
}

/** The machine has those of its own processor alone. @returns folders of unpacked packages, with what they say of their symbols. */
async function foreignLibraries({ debian }: Processor, work: string): Promise<string[]> {
  const download = join(work, 'libraries');
  await mkdir(download);
  const files = await downloadPackages(download, OLDEST, LIBRARIES, debian);
  for (const file of files) await command('dpkg-deb', ['--raw-extract', file, `${file}.unpacked`]);
  return files.map((file) => `${file}.unpacked`);
}
