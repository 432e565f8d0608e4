/**
 * Writes an OCI layout as a tar that every Docker loads: older ones know neither layouts nor zstd, and skopeo of Debian 12
 * does not convert zstd. The same layout gives the same bytes.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { command } from '../../command.ts';

interface Descriptor {
  digest: string;
}

/**
 * @param reference Name and tag under which Docker keeps the image.
 * @param epoch Seconds since 1970, the time of all files in the tar.
 */
export async function writeDockerArchive(
  layout: string,
  file: string,
  { reference, epoch }: { reference: string; epoch: number },
): Promise<void> {
  const work = await mkdtemp(join(dirname(file), `.${basename(file)}-`));
  try {
    const content = join(work, 'content');
    await mkdir(content);
    await unpackBlobs(layout, content, reference);
    const tar = join(work, 'image.tar');
    await command('tar', [
      ...['--sort=name', '--numeric-owner', '--owner=0', '--group=0', '--mode=644', '--format=ustar'],
      ...[`--mtime=@${epoch}`, '-C', content, '-cf', tar, ...(await readdir(content)).sort()],
    ]);
    await rename(tar, file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Docker names the configuration and the layers by the digests of their plain bytes. */
async function unpackBlobs(layout: string, content: string, reference: string): Promise<void> {
  const blob = ({ digest }: Descriptor) => join(layout, 'blobs', digest.replace(':', '/'));
  const json = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
  const [entry] = (await json(join(layout, 'index.json'))).manifests;
  const { config, layers }: { config: Descriptor; layers: Descriptor[] } = await json(blob(entry));
  const plain: string[] = (await json(blob(config))).rootfs.diff_ids;
  const names = plain.map((digest) => `${digest.replace('sha256:', '')}.tar`);
  for (const [index, layer] of layers.entries()) {
    await command('zstd', ['--quiet', '--decompress', blob(layer), '-o', join(content, names[index] ?? '')]);
  }
  const configName = `${config.digest.replace('sha256:', '')}.json`;
  await cp(blob(config), join(content, configName));
  const manifest = [{ Config: configName, RepoTags: [reference], Layers: names }];
  await writeFile(join(content, 'manifest.json'), JSON.stringify(manifest));
}
