/** Makes something again only when its sources have changed since. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param stamp File beside what is made, which the work leaves alone or removes: it holds the hash of the sources.
 * @param sources Globs of files below `home`.
 */
export async function whenChanged(
  home: string,
  stamp: string,
  sources: string[],
  work: () => Promise<void>,
): Promise<void> {
  const wanted = hashOf(home, sources);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  // Work that breaks off leaves none.
  rmSync(stamp, { force: true });
  await work();
  writeFileSync(stamp, wanted);
}

function hashOf(home: string, sources: string[]): string {
  const hash = createHash('sha256');
  for (const file of globSync(sources, { cwd: home }).toSorted()) {
    const path = join(home, file);
    if (!statSync(path).isFile()) continue;
    hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}
