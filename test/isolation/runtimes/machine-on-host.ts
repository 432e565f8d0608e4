/** A machine as the host sees it: PID 1, its cgroups, its namespaces. Imports nothing of the project: it runs on test machines too. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

export type MachineOnHost = ReturnType<typeof machineOf>;

export function machineOf(dataDir: string, id: string) {
  const group = groupOf(dataDir, id);
  const pid = initOf(group);
  const of = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  const link = (name: string): string => readlinkSync(`/proc/${pid}/${name}`);
  return {
    environment: of('environ').split('\0').filter(Boolean),
    descriptors: [0, 1, 2, 3].map((number) => link(`fd/${number}`).replace(/\[\d+\]$/, '')),
    folders: ['cwd', 'root', 'exe'].map(link),
    groups: of('cgroup').replaceAll(group, 'GROUP').split('\n').sort(),
    settings: ['oom_score_adj', 'coredump_filter', 'loginuid', 'personality', 'timens_offsets'].map(of),
    namespaces: namespacesOf(link),
  };
}

/** Of the host's processes. */
export function initIdOf(dataDir: string, id: string): number {
  return Number(initOf(groupOf(dataDir, id)));
}

/** Host id of root inside. */
export function firstIdOf(dataDir: string, id: string): number {
  const map = readFileSync(`/proc/${initOf(groupOf(dataDir, id))}/uid_map`, 'utf8');
  return Number(map.trim().split(/\s+/)[1]);
}

/** Returns the folder of the group whose rules about devices count for the machine. */
export function deviceGroupOf(dataDir: string, id: string): string {
  return `${hierarchyOf('devices')}/${groupOf(dataDir, id)}`;
}

function groupOf(dataDir: string, id: string): string {
  return `sandhaven-${readFileSync(join(dataDir, 'instance'), 'utf8').trim()}/${id}`;
}

/** On v2 there is one for all controllers. */
function hierarchyOf(controller: string): string {
  return existsSync(`${ROOT}/${controller}`) ? `${ROOT}/${controller}` : ROOT;
}

function initOf(group: string): string {
  const pids = readFileSync(`${hierarchyOf('memory')}/${group}/cgroup.procs`, 'utf8')
    .trim()
    .split('\n');
  const init = pids.find((pid) => /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
  if (init === undefined) throw new Error(`no PID 1 in ${group}`);
  return init;
}

function namespacesOf(link: (name: string) => string): { own: string[]; ofHost: string[] } {
  const names = readdirSync('/proc/self/ns').filter((name) => !name.endsWith('_for_children'));
  const isOwn = (name: string): boolean => link(`ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`);
  return { own: names.filter(isOwn), ofHost: names.filter((name) => !isOwn(name)) };
}
