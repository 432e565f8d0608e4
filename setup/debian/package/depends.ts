/** Packages that the service needs at run time: the libraries of its Node, and the programs that it starts. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../command.ts';

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

/** The native programs are static; Node is not. */
export async function dependsOf(node: string, work: string): Promise<string> {
  const source = join(work, 'shlibdeps');
  await mkdir(join(source, 'debian'), { recursive: true });
  await writeFile(
    join(source, 'debian/control'),
    'Source: sandhaven\n\nPackage: sandhaven\nArchitecture: any\n',
  );
  const found = await command('dpkg-shlibdeps', ['-O', '--ignore-missing-info', node], { cwd: source });
  const libraries = /^shlibs:Depends=(.*)$/m.exec(found)?.[1];
  if (!libraries) throw new Error('dpkg-shlibdeps found no libraries of Node');
  return [...libraries.split(', '), ...PROGRAMS].sort().join(', ');
}
