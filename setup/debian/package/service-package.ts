/** The package of the service: its files below /usr/lib/sandhaven with its own Node, native programs and runc. */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../command.ts';
import { copyService } from '../../images/service-files.ts';
import { nodeOf } from '../../processors/node.ts';
import type { Processor } from '../../processors/processor.ts';
import { soundRunc } from '../../runc.ts';
import { type DebianPackage, makeDebianPackage } from './debian-package.ts';
import { dependsOf } from './depends.ts';
import { changelog, copyright } from './documents.ts';
import { completions, manuals } from './printed.ts';
import { type Staged, staged } from './staged.ts';

/** Of the service, in the package. */
const HOME = 'usr/lib/sandhaven';

export interface Made {
  home: string;
  dist: string;
  version: string;
  epoch: number;
  processor: Processor;
}

/** @param work Empty folder of the caller, which removes it. @returns the path of the package. */
export async function makeServicePackage(work: string, made: Made): Promise<string> {
  const { home, dist, version, epoch, processor } = made;
  const sources = join(home, 'deploy/debian/sandhaven');
  const to = staged(join(work, 'root'));
  await copyService(home, join(to.root, HOME));
  // Some packages come with modes of their makers' machines; nothing in them is run as a program.
  await command('find', [join(to.root, HOME), '-type', 'f', '-exec', 'chmod', '644', '{}', '+']);
  await writePrograms(to, made);
  await writeRunc(to, processor);
  for (const name of ['share-key', 'prove-start'])
    await to.copy(join(sources, name), `${HOME}/${name}`, 0o755);
  await to.copy(join(sources, 'sandhaven.sh'), 'usr/bin/sandhaven', 0o755);
  await to.copy(join(sources, 'config.yaml'), 'etc/sandhaven/config.yaml');
  await to.copy(join(sources, 'sandhaven.service'), 'usr/lib/systemd/system/sandhaven.service');
  await to.copy(join(sources, 'lintian-overrides'), 'usr/share/lintian/overrides/sandhaven');
  for (const { path, text } of await manuals(home, { version, epoch })) await to.zipped(path, text);
  for (const { path, text } of await completions(home)) await to.text(path, text);
  await to.text('usr/share/doc/sandhaven/copyright', await copyright(home, processor));
  await to.zipped('usr/share/doc/sandhaven/changelog', changelog('sandhaven', { version, epoch }));
  await to.zipped('usr/share/doc/sandhaven/NEWS.md', await readFile(join(home, 'CHANGELOG.md'), 'utf8'));
  const traces = await readFile(join(sources, 'traces.sh'), 'utf8');
  const script = async (name: string) =>
    (await readFile(join(sources, name), 'utf8')).replace('#TRACES#\n', () => traces);
  const wanted: DebianPackage = {
    name: 'sandhaven',
    version,
    architecture: processor.debian,
    fields: {
      Depends: await dependsOf(join(to.root, HOME, processor.node), processor, work),
      Recommends: `sandhaven-base-image (= ${version}), openssh-client, xfsprogs`,
      Section: 'admin',
      Priority: 'optional',
    },
    description: {
      short: 'self-hosted sandboxes and data access for language-model agents',
      long: [
        'An agent connects over MCP, HTTP or the command line and gets isolated Linux machines in milliseconds: files, a shell, code, sessions, Git, previews and SSH, each with its own disk, its own limits and no way out.',
        'The service runs as one process, without a container daemon and without a cloud account. This package brings its own Node and runc.',
      ],
    },
    scripts: Object.fromEntries(
      await Promise.all(['postinst', 'prerm', 'postrm'].map(async (name) => [name, await script(name)])),
    ),
    conffiles: ['/etc/sandhaven/config.yaml'],
    root: to.root,
    epoch,
    compression: 'xz',
  };
  return makeDebianPackage(wanted, dist);
}

async function writePrograms(to: Staged, { home, processor }: Made): Promise<void> {
  for (const name of ['sandhaven', 'sandhaven-askpass']) {
    await to.copy(join(home, 'bin', name), `${HOME}/bin/${name}`, 0o755);
  }
  await to.copy(join(await nodeOf(processor), 'bin/node'), `${HOME}/${processor.node}`, 0o755);
  for (const name of ['sandhaven-agent', 'sandhaven-egress', 'sandhaven-launcher', 'sandhaven-unpack']) {
    const built = join(home, 'native/target', processor.rust, 'release', name);
    await to.copy(built, `${HOME}/native/programs/${name}`, 0o755);
  }
}

/** runc with its libraries beside it; the paths inside are those of the package. */
async function writeRunc(to: Staged, processor: Processor): Promise<void> {
  const { loader } = processor;
  const folder = await soundRunc(processor);
  const target = join(to.root, HOME, 'runc');
  await mkdir(target);
  for (const name of [loader, 'libc.so.6', 'libseccomp.so.2', 'runc']) {
    await copyFile(join(folder, name), join(target, name));
  }
  const final = `/${HOME}/runc`;
  const paths = ['--set-interpreter', join(final, loader), '--force-rpath', '--set-rpath', final];
  await command('patchelf', [...paths, join(target, 'runc')]);
}
