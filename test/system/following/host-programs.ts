/** Programs of this machine with their libraries, for sandboxes whose image has none of them. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The sandbox has its own: another version's would not start. */
const OF_THE_SYSTEM = /^(?:linux-vdso|ld-linux|libc\.|libm\.|libresolv\.|libpthread\.|libdl\.)/;

/** Returns a tar archive of `bin/` and `lib/`. */
export function packPrograms(names: string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-programs-'));
  try {
    for (const kind of ['bin', 'lib']) mkdirSync(join(folder, kind));
    for (const name of names) {
      const path = execFileSync('sh', ['-c', `readlink -f "$(command -v ${name})"`], {
        encoding: 'utf8',
      }).trim();
      copyFileSync(path, join(folder, 'bin', name));
      for (const library of librariesOf(path)) copyFileSync(library, join(folder, 'lib', basename(library)));
    }
    return execFileSync('tar', ['-cC', folder, 'bin', 'lib'], { maxBuffer: 64 << 20 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n');
  return lines
    .map((line) => /=> (\/\S+)/.exec(line)?.[1])
    .filter((path): path is string => path !== undefined && !OF_THE_SYSTEM.test(basename(path)));
}
