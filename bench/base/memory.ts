/** Reads the memory of the host and of processes from the kernel. All in bytes. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { summarize } from './statistics.ts';

const FIELDS = [
  'AnonPages',
  'Cached',
  'Shmem',
  'SReclaimable',
  'SUnreclaim',
  'KernelStack',
  'PageTables',
  'Percpu',
] as const;

export type HostMemory = Record<(typeof FIELDS)[number], number>;

const READINGS = 5;
const BETWEEN_READINGS_MS = 200;

/** Takes medians over a second, since other programs come and go. */
export async function hostMemory(): Promise<HostMemory> {
  const readings: Map<string, number>[] = [];
  for (let reading = 0; reading < READINGS; reading++) {
    if (reading > 0) await sleep(BETWEEN_READINGS_MS);
    readings.push(kibFields(await readFile('/proc/meminfo', 'utf8')));
  }
  const median = (field: string) => summarize(readings.map((values) => values.get(field) ?? 0)).median;
  return Object.fromEntries(FIELDS.map((field) => [field, median(field)])) as HostMemory;
}

/**
 * Sums the kernel's accounts of processes and of its own structures. Free memory shows less: the page cache and
 * a virtual machine's host move it by far more than a sandbox weighs.
 */
export function usedBytes(memory: HostMemory): number {
  const { AnonPages, Shmem, SUnreclaim, KernelStack, PageTables, Percpu } = memory;
  return AnonPages + Shmem + SUnreclaim + KernelStack + PageTables + Percpu;
}

/** Returns the resident memory of a process and its descendants with one of the names. */
export async function residentBytes(ancestor: number, names: string[]): Promise<number> {
  const sizes = (await family(ancestor)).map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const name = /^Name:\s+(.+)$/m.exec(status)?.[1] ?? '';
    return names.includes(name) ? (kibFields(status).get('VmRSS') ?? 0) : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** `peak` is the maximum over its life. */
export async function processMemory(pid: number): Promise<{ resident: number; peak: number }> {
  const fields = kibFields(await readFile(`/proc/${pid}/status`, 'utf8'));
  return { resident: fields.get('VmRSS') ?? Number.NaN, peak: fields.get('VmHWM') ?? Number.NaN };
}

async function family(ancestor: number): Promise<number[]> {
  const threads = await readdir(`/proc/${ancestor}/task`).catch(() => []);
  const lists = threads.map((thread) =>
    readFile(`/proc/${ancestor}/task/${thread}/children`, 'utf8').catch(() => ''),
  );
  const children = (await Promise.all(lists)).flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  return [ancestor, ...(await Promise.all(children.map(family))).flat()];
}

function kibFields(text: string): Map<string, number> {
  const lines = text.matchAll(/^(\w+):\s+(\d+) kB$/gm);
  return new Map([...lines].map(([, name, kib]) => [name ?? '', Number(kib) * 1024]));
}
