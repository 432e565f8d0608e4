/** Checks the kernel and the host's settings. */
import { mkdir, open, readFile, rmdir, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

/** First kernel with overlay over idmapped layers; every other feature needed is older. */
const KERNEL_MIN = [5, 19] as const;
const FILE_SYSTEMS = ['overlay', 'ext4'];
const NODE_MAJOR_MIN = 24;
const OPEN_FILES_MIN = 4_096;

export function hostChecks(facts: Pick<DoctorFacts, 'cgroups' | 'tryProgram'>): Check[] {
  return [
    { name: 'root', neededByUp: true, run: root },
    { name: 'kernel', neededByUp: true, run: async () => kernel(release()) },
    cgroupCheck(facts),
    { name: 'file systems', neededByUp: true, run: () => fileSystems(facts, listedFileSystems) },
    { name: 'loop devices', neededByUp: true, run: loopDevices },
    { name: 'user namespaces', neededByUp: true, run: userNamespaces },
    { name: 'seccomp', neededByUp: true, run: seccomp },
    { name: 'open files', run: async () => openFiles(await readFile('/proc/self/limits', 'utf8')) },
    { name: 'node', run: async () => node(process.versions.node) },
  ];
}

async function root(): Promise<Finding> {
  if (process.geteuid?.() === 0) return { status: 'ok', found: 'running as root' };
  return {
    status: 'fail',
    found: 'not running as root',
    advice: 'Sandboxes are made by root, and run without its rights: use sudo.',
  };
}

export function kernel(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major > KERNEL_MIN[0] || (major === KERNEL_MIN[0] && minor >= KERNEL_MIN[1])) {
    return { status: 'ok', found: version };
  }
  return {
    status: 'fail',
    found: version,
    advice: `Linux ${KERNEL_MIN.join('.')} or later is needed (idmapped layers); Debian 12 and 13 have it.`,
  };
}

/**
 * The first mount attempt loads a file system's module, and /proc/filesystems lists it only afterwards. An
 * unlisted one is therefore mounted on nothing, in a mount namespace of its own. The mount fails; the module
 * stays.
 * @param listed Reads /proc/filesystems.
 */
export async function fileSystems(
  { tryProgram }: Pick<DoctorFacts, 'tryProgram'>,
  listed: () => Promise<string>,
): Promise<Finding> {
  const missingIn = (text: string) =>
    FILE_SYSTEMS.filter((name) => !new RegExp(`\\t${name}$`, 'm').test(text));
  for (const name of missingIn(await listed())) {
    await tryProgram('unshare', ['--mount', 'mount', '-t', name, 'none', '/etc']);
  }
  const missing = missingIn(await listed());
  if (missing.length === 0) return { status: 'ok', found: FILE_SYSTEMS.join(' and ') };
  return {
    status: 'fail',
    found: `this kernel has no ${missing.join(' and no ')}`,
    advice: `Load what is missing, on the host itself where this is a container: modprobe ${missing.join(' ')}`,
  };
}

function listedFileSystems(): Promise<string> {
  return readFile('/proc/filesystems', 'utf8');
}

/** Opens the device, which loads its module; the type check excludes any other file under that name. */
async function loopDevices(): Promise<Finding> {
  try {
    if (!(await stat('/dev/loop-control')).isCharacterDevice()) throw new Error('it is no device');
    await (await open('/dev/loop-control', 'r+')).close();
    return { status: 'ok', found: 'available' };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      status: 'fail',
      found: `/dev/loop-control cannot be opened (${code ?? message})`,
      advice: 'Load the module (modprobe loop); inside a container, give it the loop devices.',
    };
  }
}

async function userNamespaces(): Promise<Finding> {
  const count = Number(await readFile('/proc/sys/user/max_user_namespaces', 'utf8').catch(() => '0'));
  if (count > 0) return { status: 'ok', found: `up to ${count}` };
  return {
    status: 'fail',
    found: 'switched off',
    advice: 'Set user.max_user_namespaces to at least 16384 (sysctl).',
  };
}

async function seccomp(): Promise<Finding> {
  const actions = await readFile('/proc/sys/kernel/seccomp/actions_avail', 'utf8').catch(() => '');
  if (/\berrno\b/.test(actions)) return { status: 'ok', found: 'filters available' };
  return { status: 'fail', found: 'no filters', advice: 'A kernel with CONFIG_SECCOMP_FILTER is needed.' };
}

export function openFiles(limits: string): Finding {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1] ?? '0';
  if (hard === 'unlimited' || Number(hard) >= OPEN_FILES_MIN)
    return { status: 'ok', found: `at most ${hard}` };
  return {
    status: 'warn',
    found: `at most ${hard}`,
    advice: `Raise the hard limit to ${OPEN_FILES_MIN} or more (ulimit -Hn), for many sandboxes at once.`,
  };
}

export function node(version: string): Finding {
  if (Number.parseInt(version, 10) >= NODE_MAJOR_MIN) return { status: 'ok', found: version };
  return { status: 'fail', found: version, advice: "Run 'make setup': it installs Node 24." };
}

// Checks the control groups by the engine's own use: makes one in each hierarchy and removes it again.

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
