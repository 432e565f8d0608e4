/** Checks the kernel and the host's settings. */
import { open, readFile, stat } from 'node:fs/promises';
import { release } from 'node:os';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { cgroupCheck } from './cgroups.ts';
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
