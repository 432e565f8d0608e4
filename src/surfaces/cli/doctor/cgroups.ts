/** Checks the control groups by the engine's own use: makes one in each hierarchy and removes it again. */
import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

type Hierarchy = ReturnType<DoctorFacts['cgroups']>[number];

const CONTROLLERS = ['memory', 'cpu', 'pids'];
/** Further v1 hierarchies that hold machines. */
const ALSO_ON_V1 = ['freezer', 'devices'];

export function cgroupCheck({ cgroups }: Pick<DoctorFacts, 'cgroups'>): Check {
  return { name: 'cgroups', neededByUp: true, run: () => cgroupFinding(cgroups()) };
}

async function cgroupFinding(hierarchies: Hierarchy[]): Promise<Finding> {
  const legacy = hierarchies.some(({ controllers }) => controllers.includes('memory'));
  const used = legacy
    ? hierarchies.filter(({ controllers }) =>
        [...CONTROLLERS, ...ALSO_ON_V1].some((name) => controllers.includes(name)),
      )
    : hierarchies.filter(({ version }) => version === 2);
  const [unified] = used;
  const there = legacy
    ? used.flatMap(({ controllers }) => controllers)
    : words(await read(unified && join(unified.mountpoint, 'cgroup.controllers')));
  const version = legacy ? 'v1' : 'v2';
  const missing = CONTROLLERS.filter((controller) => !there.includes(controller));
  if (missing.length > 0) {
    return {
      status: 'fail',
      found: `${version}, without ${missing.join(', ')}`,
      advice: 'Mount the control groups, or delegate these controllers to this place.',
    };
  }
  for (const { mountpoint } of used) {
    const refused = await tryGroup(mountpoint);
    if (refused !== null) return unwritable(version, mountpoint, refused);
  }
  if (!legacy && unified) {
    const refusal = delegation(await delegationOf(unified.mountpoint));
    if (refusal) return refusal;
  }
  return { status: 'ok', found: `${version} with ${CONTROLLERS.join(', ')}` };
}

/**
 * On v2 a group delegates controllers only while it holds no process itself; the root of the host alone may do
 * both.
 * @returns null when controllers can be delegated.
 */
export function delegation(root: {
  handedOn: string[];
  isHostRoot: boolean;
  processes: number;
}): Finding | null {
  const { handedOn, isHostRoot, processes } = root;
  if (isHostRoot || processes === 0 || CONTROLLERS.every((name) => handedOn.includes(name))) return null;
  return {
    status: 'fail',
    found: `v2, and the ${processes} processes in its root prevent the delegation of ${CONTROLLERS.join(', ')}`,
    advice:
      'Inside a container, start it with the control groups of the host (--cgroupns=host), or move its processes to a ' +
      'group below the root first.',
  };
}

async function delegationOf(root: string) {
  const [handedOn, type, processes] = await Promise.all([
    read(join(root, 'cgroup.subtree_control')),
    read(join(root, 'cgroup.type')),
    read(join(root, 'cgroup.procs')),
  ]);
  return { handedOn: words(handedOn), isHostRoot: type === null, processes: words(processes).length };
}

/** Returns the error's code; null when a group can be made. */
async function tryGroup(mountpoint: string): Promise<string | null> {
  const group = join(mountpoint, `sandhaven-doctor-${process.pid}`);
  try {
    await mkdir(group);
    await rmdir(group);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function unwritable(version: string, mountpoint: string, code: string): Finding {
  return {
    status: 'fail',
    found: `${version}, ${code === 'EROFS' ? 'read-only' : `not writable (${code})`} at ${mountpoint}`,
    advice:
      'Run it as root; inside a container, start that with its control groups writable (docker run --privileged, or ' +
      '-v /sys/fs/cgroup:/sys/fs/cgroup:rw).',
  };
}

async function read(file: string | undefined): Promise<string | null> {
  return file === undefined ? null : readFile(file, 'utf8').catch(() => null);
}

function words(text: string | null): string[] {
  return text?.split(/\s+/).filter(Boolean) ?? [];
}
