/** What the host holds of one data directory's service, read from the kernel and not from the service. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Traces {
  /** Sandbox ids by kind of trace. */
  folders: string[];
  loops: string[];
  cgroups: string[];
  sockets: string[];
  processes: string[];
}

/** Of a service without sandboxes. */
export const noTraces: Traces = { folders: [], loops: [], cgroups: [], sockets: [], processes: [] };

const sandboxId = /sb_[0-9a-z]{16}/;

export async function tracesOf(dataDir: string): Promise<Traces> {
  const instance = readFileSync(join(dataDir, 'instance'), 'utf8').trim();
  await quietTime(instance);
  return {
    folders: idsIn(entries(join(dataDir, 'sandboxes'))),
    loops: loopIds(dataDir),
    cgroups: cgroupIds(`sandhaven-${instance}`),
    sockets: idsIn(entries(`/run/sandhaven-${instance}/s`)),
    processes: processIds(`sandhaven-${instance}`),
  };
}

/**
 * Gives the groups of ended machines the quiet time that they wait for (`src/runtime/oci/machine/running.ts`): one that is
 * there afterwards is left over.
 */
export async function quietTime(instance: string): Promise<void> {
  const roots = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].map((root) =>
    join(root, `sandhaven-${instance}`),
  );
  const isWaiting = (group: string) =>
    existsSync(group) && readText(join(group, 'cgroup.procs')).trim() === '';
  const anyWaits = () =>
    roots.some((root) =>
      entries(root)
        .filter((name) => sandboxId.test(name))
        .some((name) => isWaiting(join(root, name))),
    );
  for (let waitedMs = 0; anyWaits() && waitedMs < 10_000; waitedMs += 50) await sleep(50);
}

/** Whether anything at all is left of an instance that was purged. */
export function leftovers(instance: string): string[] {
  const name = `sandhaven-${instance}`;
  const left = [
    ...entries('/run').filter((entry) => entry === name),
    ...cgroupRoots().flatMap((root) => entries(root).filter((entry) => entry.startsWith(name))),
    ...entries('/sys/class/net').filter((entry) => entry.startsWith(`sh${instance}`)),
    ...entries('/run/sandhaven/slots').filter((slot) =>
      readText(join('/run/sandhaven/slots', slot)).includes(instance),
    ),
    ...readText('/proc/self/mountinfo')
      .split('\n')
      .filter((line) => line.includes(name)),
  ];
  return left;
}

function loopIds(dataDir: string): string[] {
  const files = entries('/sys/block')
    .filter((device) => device.startsWith('loop'))
    .map((device) => readText(`/sys/block/${device}/loop/backing_file`))
    .filter((file) => file.startsWith(dataDir));
  return idsIn(files);
}

function cgroupRoots(): string[] {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return ['/sys/fs/cgroup'];
  return entries('/sys/fs/cgroup').map((controller) => join('/sys/fs/cgroup', controller));
}

function cgroupIds(parent: string): string[] {
  const folders = cgroupRoots().flatMap((root) => entries(join(root, parent)));
  return idsIn(folders);
}

function processIds(parent: string): string[] {
  const groups = entries('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => !/^State:\s+Z/m.test(readText(`/proc/${pid}/status`)))
    .flatMap((pid) => readText(`/proc/${pid}/cgroup`).split('\n'))
    .filter((line) => line.includes(`/${parent}/`));
  return idsIn(groups);
}

function idsIn(texts: string[]): string[] {
  return [...new Set(texts.flatMap((text) => sandboxId.exec(text)?.[0] ?? []))].sort();
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
