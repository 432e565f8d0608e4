/** Reads what the tests look at in the layout of an OCI image. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

export interface Layout {
  index: { manifests: (Blob & { annotations: Record<string, string> })[] };
  manifest: { mediaType: string; config: Blob; layers: Blob[] };
  // biome-ignore lint/suspicious/noExplicitAny: each test reads a few fields of it
  config: any;
}

export function readLayout(folder: string): Layout {
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  const manifest = JSON.parse(readFileSync(blobPath(folder, index.manifests[0].digest), 'utf8'));
  const config = JSON.parse(readFileSync(blobPath(folder, manifest.config.digest), 'utf8'));
  return { index, manifest, config };
}

export function blobPath(folder: string, digest: string): string {
  return join(folder, 'blobs/sha256', digest.replace('sha256:', ''));
}

/** Returns the digest and size of each file among the blobs, by its name. */
export function blobsOf(folder: string): Record<string, { digest: string; size: number }> {
  const names = readdirSync(join(folder, 'blobs/sha256'));
  return Object.fromEntries(
    names.map((name) => {
      const data = readFileSync(join(folder, 'blobs/sha256', name));
      return [name, { digest: createHash('sha256').update(data).digest('hex'), size: data.length }];
    }),
  );
}

/** Lists the files of all layers: mode, owner and path, as tar shows them. */
export function filesOf(folder: string): { mode: string; owner: string; path: string }[] {
  return readLayout(folder).manifest.layers.flatMap(({ digest }) =>
    execFileSync('tar', ['--zstd', '--numeric-owner', '-tvf', blobPath(folder, digest)], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
      .trim()
      .split('\n')
      .map((line) => {
        const [mode = '', owner = '', , , , ...name] = line.split(/\s+/);
        return { mode, owner, path: name.join(' ').replace(/ -> .*/, '') };
      }),
  );
}

/** Unpacks all layers into a new folder, as root does. */
export function unpack(folder: string, root: string): void {
  mkdirSync(root);
  for (const { digest } of readLayout(folder).manifest.layers) {
    execFileSync('tar', ['--zstd', '--numeric-owner', '-xpf', blobPath(folder, digest), '-C', root]);
  }
}
