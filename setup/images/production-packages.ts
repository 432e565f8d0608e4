/** The npm packages that the service needs when it runs, by the flags of package-lock.json. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Locked {
  dev?: boolean;
  devOptional?: boolean;
  /** Native parts that nothing compiles here, and Node itself, which has a place of its own in the image. */
  optional?: boolean;
}

/** Declarations for the compiler alone. */
const types = /^node_modules\/@types\//;

/** Returns the packages' folders, as `node_modules/…` relative to `home`, sorted. Rejects when one is not installed. */
export async function productionPackages(home: string): Promise<string[]> {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    await readFile(join(home, 'package-lock.json'), 'utf8'),
  );
  const wanted = Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional)
    .map(([path]) => path)
    .filter((path) => !types.test(path))
    .sort();
  const missing = wanted.filter((path) => !existsSync(join(home, path)));
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  return wanted;
}
