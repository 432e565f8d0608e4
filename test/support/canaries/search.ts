/** Searches for secrets by their bytes: in files, and in processes of a sandbox as the host sees them. */
import { spawnSync } from 'node:child_process';
import { closeSync, globSync, openSync, readFileSync, readSync } from 'node:fs';

const MAX_REGION_BYTES = 64 * 1024 * 1024;

/** Secrets by the names that a test gives them. */
export type Canaries = Record<string, string>;

/** Names of the secrets that are in the bytes. */
export function found(bytes: Buffer, secrets: Canaries): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => (bytes.includes(secret) ? [name] : []));
}

/** All processes of a sandbox, its agent included. */
export function pidsInside(sandbox: string): number[] {
  const cgroup = new RegExp(`/${sandbox}(?:\\n|$|/)`);
  return globSync('/proc/[0-9]*/cgroup')
    .filter((file) => cgroup.test(read(file).toString()))
    .map((file) => Number(file.split('/')[2]));
}

/** Names of the secrets that are in memory that the process may write. */
export function foundInMemory(pid: number, secrets: Canaries): string[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const regions = read(`/proc/${pid}/maps`)
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      return start && end ? [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }] : [];
    });
  const names = regions.flatMap(({ start, end }) => {
    const bytes = Buffer.alloc(Math.min(Number(end - start), MAX_REGION_BYTES));
    try {
      readSync(memory, bytes, 0, bytes.length, start as unknown as number);
    } catch {
      return [];
    }
    return found(bytes, secrets);
  });
  closeSync(memory);
  return [...new Set(names)];
}

/** Arguments and environment of a process. */
export function shownBy(pid: number): Buffer {
  return Buffer.concat([read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/environ`)]);
}

export function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    // It ended meanwhile.
    return Buffer.alloc(0);
  }
}

/** What `grep` says; a file that a running service removes meanwhile is no fault of the search. */
export function grep(args: string[]): string {
  const { error, status, stdout, stderr } = spawnSync('grep', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const faults = stderr.split('\n').filter((line) => line && !line.endsWith(': No such file or directory'));
  if (error || status === null || faults.length > 0)
    throw error ?? new Error(`grep failed: ${faults.join('\n')}`);
  return stdout;
}
