/** SHA256SUMS of a folder of things to publish, as `sha256sum --check` reads it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'SHA256SUMS';

/** Writes the sums of these files; those of others that are still there stay, as several steps fill the folder. */
export function addChecksums(folder: string, names: readonly string[]): void {
  const path = join(folder, FILE);
  const sums = new Map<string, string>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sum !== undefined && name !== undefined && existsSync(join(folder, name))) sums.set(name, sum);
  }
  for (const name of names) {
    sums.set(
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    );
  }
  const lines = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  writeFileSync(path, lines.join(''));
}
