/**
 * The service comes before what it serves. Its main thread has little to do for each call, every call waits for
 * it, and it waits for the threads that collect garbage beside it: where processors are short, they are the first to get
 * one. What the launcher starts, and so every sandbox, has the usual priority again
 * (`native/launcher/src/priority.rs`).
 */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { limits } from '../model/limits.ts';

/** Of all threads that there are, and of those that they make. Without the right to (CAP_SYS_NICE) it stays as it is. */
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
