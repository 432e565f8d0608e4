/** SHA256SUMS of a folder of things to publish, as `sha256sum --check` reads it. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const FILE = 'SHA256SUMS';

/** Writes the sums of these files; those of others that are still there stay, as several steps fill the folder. */
export async function addChecksums(folder: string, names: readonly string[]): Promise<void> {
  const path = join(folder, FILE);
  const sums = new Map<string, string>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sum !== undefined && name !== undefined && existsSync(join(folder, name))) sums.set(name, sum);
  }
  for (const name of names) sums.set(name, await digestOf(join(folder, name)));
  const lines = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  writeFileSync(path, lines.join(''));
}

/** In pieces: a package of the base image is large. */
async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
