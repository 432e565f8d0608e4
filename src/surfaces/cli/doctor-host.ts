/** What the kernel and the machine's settings must offer. */
import { access, constants, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import type { Check, Finding } from './doctor.ts';

/** Overlay over idmapped layers came with it; all else that is needed is older. */
const KERNEL_MIN = [5, 19] as const;
const CONTROLLERS = ['memory', 'cpu', 'pids'];
const NODE_MAJOR_MIN = 24;
const OPEN_FILES_MIN = 4_096;

export function hostChecks(): Check[] {
  return [
    { name: 'root', run: root },
    { name: 'kernel', run: async () => kernel(release()) },
    { name: 'cgroups', run: cgroups },
    { name: 'file systems', run: async () => fileSystems(await readFile('/proc/filesystems', 'utf8')) },
    { name: 'loop devices', run: loopDevices },
    { name: 'user namespaces', run: userNamespaces },
    { name: 'seccomp', run: seccomp },
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

async function cgroups(): Promise<Finding> {
  const unified = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch(() => null);
  const there = unified?.trim().split(' ') ?? (await legacyControllers());
  const missing = CONTROLLERS.filter((controller) => !there.includes(controller));
  const version = unified === null ? 'v1' : 'v2';
  if (missing.length > 0) {
    return {
      status: 'fail',
      found: `${version}, without ${missing.join(', ')}`,
      advice: 'Mount the control groups, or delegate these controllers to this place.',
    };
  }
  const folder = unified === null ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  if (await may(folder, constants.W_OK))
    return { status: 'ok', found: `${version} with ${CONTROLLERS.join(', ')}` };
  return {
    status: 'fail',
    found: `${version}, read-only`,
    advice: 'Inside a container, start that with its control groups writable.',
  };
}

async function legacyControllers(): Promise<string[]> {
  const there = await Promise.all(CONTROLLERS.map((name) => may(`/sys/fs/cgroup/${name}`, constants.R_OK)));
  return CONTROLLERS.filter((_, index) => there[index]);
}

/** A file system that is a module is loaded at its first mount, and not listed before. */
export function fileSystems(listed: string): Finding {
  const missing = ['overlay', 'ext4'].filter((name) => !new RegExp(`\\t${name}$`, 'm').test(listed));
  if (missing.length === 0) return { status: 'ok', found: 'overlay and ext4' };
  return {
    status: 'warn',
    found: `${missing.join(' and ')} not loaded yet`,
    advice: `If sandboxes do not start: modprobe ${missing.join(' ')}`,
  };
}

async function loopDevices(): Promise<Finding> {
  if (await may('/dev/loop-control', constants.R_OK | constants.W_OK))
    return { status: 'ok', found: 'available' };
  return {
    status: 'fail',
    found: '/dev/loop-control is missing or closed',
    advice: 'Load the module (modprobe loop); inside a container, allow the loop devices.',
  };
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
  return { status: 'fail', found: version, advice: "Run 'make setup': it brings Node 24 along." };
}

async function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
