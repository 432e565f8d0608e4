/**
 * Scheduling priority of the service over its sandboxes. Its main thread does little work per call, every call waits
 * for it, and it waits for the threads of the garbage collector: under contention they must run first. The launcher
 * resets the priority, so every sandbox has the usual one (`native/launcher/src/process/priority.rs`).
 */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { limits } from '../model/limits.ts';

/** Raises all current threads and those they create later. Changes nothing without CAP_SYS_NICE. */
export function raisePriority(): void {
  const niceness = getPriority() - limits.processor.serviceNiceness;
  for (const thread of readdirSync('/proc/self/task')) raise(Number(thread), niceness);
}

function raise(thread: number, niceness: number): void {
  try {
    setPriority(thread, niceness);
  } catch (error) {
    if (!isRefusalOrGone(error)) throw error;
  }
}

function isRefusalOrGone(error: unknown): boolean {
  const { code, info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
  return code === 'ERR_SYSTEM_ERROR' && ['EACCES', 'EPERM', 'ESRCH'].includes(info?.code ?? '');
}
