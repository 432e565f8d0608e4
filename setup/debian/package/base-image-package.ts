/** The package of the base image: the root file system as one archive, which its script unpacks into the cache. */
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../command.ts';
import { cacheFolder } from '../../processors/cache.ts';
import { makeDebianPackage } from './debian-package.ts';
import { baseImageCopyright, changelog } from './documents.ts';
import type { Made } from './service-package.ts';
import { staged } from './staged.ts';

const FOLDER = 'usr/share/sandhaven/base-image';

/** @param work Empty folder of the caller, which removes it. @returns the path of the package. */
export async function makeBaseImagePackage(work: string, made: Made): Promise<string> {
  const { home, dist, version, epoch, processor } = made;
  const name = 'sandhaven-base-image';
  const sources = join(home, 'deploy/debian', name);
  const image = await realpath(join(cacheFolder('base', processor), 'current'));
  const to = staged(join(work, 'root'));
  await to.copy(join(image, 'image.json'), `${FOLDER}/image.json`);
  await to.copy(join(sources, 'unpack'), `${FOLDER}/unpack`, 0o755);
  await pack(join(image, 'rootfs'), join(to.root, FOLDER, 'rootfs.tar.zst'), work);
  await to.text(`usr/share/doc/${name}/copyright`, baseImageCopyright);
  await to.zipped(`usr/share/doc/${name}/changelog`, changelog(name, { version, epoch }));
  await to.copy(join(sources, 'lintian-overrides'), `usr/share/lintian/overrides/${name}`);
  const script = (file: string) => readFile(join(sources, file), 'utf8');
  return makeDebianPackage(
    {
      name,
      version,
      architecture: processor.debian,
      fields: { Depends: 'zstd', Enhances: 'sandhaven', Section: 'admin', Priority: 'optional' },
      description: {
        short: 'standard image of Sandhaven’s sandboxes',
        long: [
          'Debian with Python, Node, compilers and the tools that agents use. The service makes sandboxes of this image unless a caller names another one.',
        ],
      },
      scripts: { postinst: await script('postinst'), postrm: await script('postrm') },
      conffiles: [],
      root: to.root,
      epoch,
      compression: 'none',
    },
    dist,
  );
}

/** The digest of an image is of names, metadata and contents, so times stay as they are. */
async function pack(rootfs: string, file: string, work: string): Promise<void> {
  const tar = join(work, 'rootfs.tar');
  await command('tar', [
    ...['--sort=name', '--numeric-owner', '--format=posix', '--xattrs', '--xattrs-include=*'],
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    ...['-C', rootfs, '-cf', tar, '.'],
  ]);
  await command('zstd', ['--quiet', '-9', '--threads=2', '--no-progress', '--rm', '-o', file, tar]);
}
