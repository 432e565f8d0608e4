/** Processes of cgroups: lists and kills them. */
import { readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses, Patience } from '../../../concurrency/patience.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { isMissing, readNow, unlessMissing } from './files.ts';

/** Processes that one error names. */
const MOST_NAMED = 10;

export interface Purge {
  /** Receives what is left, every few seconds. */
  onWait(left: string): void;
}

export async function children(group: string): Promise<string[]> {
  const entries = await unlessMissing(readdir(group, { withFileTypes: true }));
  return (entries ?? []).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

export async function processesOf(group: string): Promise<number[]> {
  return (readNow(`${group}/cgroup.procs`) ?? '').split('\n').filter(Boolean).map(Number);
}

/**
 * Kills the group's processes until it can be removed. Throws with the processes that do not end.
 * @param purge Logs what an operator waits for, who gets the error as it is.
 */
export async function destroyGroup(group: string, purge: Purge | null = null): Promise<void> {
  const patience = purge
    ? new Patience(limits.kernelStuckMs, purge.onWait)
    : new Patience(limits.teardownStuckMs);
  for (const pauseMs of growingPauses(50)) {
    try {
      await rmdir(group);
      return;
    } catch (error) {
      if (isMissing(error)) return;
      const left = await processesOf(group);
      if (patience.isOver(left.length, left.map(named).join(', '))) {
        if (left.length === 0) throw error;
        throw purge ? notEnding(left) : new Error(notEnding(left).message);
      }
    }
    await killGroup(group);
    await sleep(pauseMs);
  }
}

/**
 * Kills the group's processes until the last is gone; resolves with false when there is no such group. Throws with the processes
 * that do not end.
 */
export async function emptyGroup(group: string): Promise<boolean> {
  const patience = new Patience(limits.teardownStuckMs);
  for (const pauseMs of growingPauses(50)) {
    const populated = isPopulated(group);
    if (populated !== true) return populated === false;
    const left = await processesOf(group);
    if (patience.isOver(left.length)) throw new Error(notEnding(left).message);
    await killGroup(group);
    await sleep(pauseMs);
  }
  return true;
}

/** Returns the error for the operator: it names processes of the host. */
export function notEnding(pids: number[]): SandhavenError {
  const processes = pids.slice(0, MOST_NAMED).map(named).join(', ');
  const detail = `The kernel does not end ${pids.length} killed processes: ${processes}.`;
  return new SandhavenError('unavailable', detail, {
    hint:
      'One in state D waits for a device or a file system, which /proc/PID/stack shows: try again once that answers, or ' +
      'restart the host.',
  });
}

/** Names the process for people, such as `123 (dd, state D)`. */
export function named(pid: number): string {
  const status = readNow(`/proc/${pid}/status`) ?? '';
  const [name = 'ended', state = 'X'] = [/^Name:\t(.*)$/m, /^State:\t(\w)/m].map(
    (field) => field.exec(status)?.[1],
  );
  return `${pid} (${name}, state ${state})`;
}

/** Returns null when the group is gone. */
function isPopulated(group: string): boolean | null {
  const populated = /^populated (\d)$/m.exec(readNow(`${group}/cgroup.events`) ?? '')?.[1];
  if (populated !== undefined) return populated === '1';
  // v1 has no such file.
  const processes = readNow(`${group}/cgroup.procs`);
  return processes === null ? null : processes.trim() !== '';
}

async function killGroup(group: string): Promise<void> {
  // A file of v2. Without it, the freezer keeps process ids from being reused before they are signalled.
  if (await written(`${group}/cgroup.kill`, '1')) return;
  const frozen = await written(`${group}/freezer.state`, 'FROZEN');
  for (const pid of await processesOf(group)) kill(pid);
  if (frozen) await written(`${group}/freezer.state`, 'THAWED');
}

/**
 * Kills the processes of a machine except its PID 1. They are frozen meanwhile, so that none escapes by forking. A
 * machine that somebody else has frozen is thawed too.
 */
export async function endPrograms(group: string): Promise<void> {
  const [file, freeze, thaw] = (await written(`${group}/cgroup.freeze`, '1'))
    ? [`${group}/cgroup.freeze`, '1', '0']
    : [`${group}/freezer.state`, 'FROZEN', 'THAWED'];
  await written(file, freeze);
  try {
    for (const pid of await processesOf(group)) if ((await isInit(pid)) === false) kill(pid);
  } finally {
    await written(file, thaw);
  }
}

/** Returns true for PID 1 of a machine; null when the process has ended. */
async function isInit(pid: number): Promise<boolean | null> {
  const status = await unlessMissing(readFile(`/proc/${pid}/status`, 'utf8').catch(ended));
  return status === null ? null : /^NSpid:.*\t1$/m.test(status);
}

function ended(error: NodeJS.ErrnoException): null {
  if (error.code === 'ESRCH') return null;
  throw error;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Writes an existing file; returns false when there is none. */
export async function written(file: string, text: string): Promise<boolean> {
  return (await unlessMissing(writeFile(file, text, { flag: 'r+' }).then(() => true))) ?? false;
}
