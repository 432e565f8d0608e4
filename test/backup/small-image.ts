/** A small image in a registry: a backup has the images of its sandboxes, and takes seconds for the standard one. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { type Registry, startRegistry } from '../images/registry/registry.ts';
import { shellLayer } from '../images/shell-image.ts';

export interface SmallImage {
  registry: Registry;
  /** To be given to CreateSandbox. */
  image: string;
  /** By which a service takes it. */
  flags: string[];
}

export async function pushSmallImage(): Promise<SmallImage> {
  const registry = await startRegistry();
  await registry.push('small', { layers: [shellLayer, programsLayer] });
  const { address } = registry;
  return { registry, image: `${address}/small`, flags: ['--registry-allow', `all,${address}`] };
}

function programsLayer(folder: string): void {
  const programs = ['head', 'mawk', 'nohup', 'sha256sum', 'sleep', 'sync', 'touch', 'wc'].map(
    (name) => `usr/bin/${name}`,
  );
  const libraries = ['libcrypto.so.3', 'libm.so.6', 'libz.so.1', 'libzstd.so.1'];
  const paths = [...programs, ...libraries.map((name) => `usr/lib/x86_64-linux-gnu/${name}`)];
  const base = join(defaultCacheDir(), 'base', 'current', 'rootfs');
  execFileSync('cp', ['--dereference', '--parents', ...paths, folder], { cwd: base });
}
