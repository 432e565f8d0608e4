/**
 * The service comes before what it serves. Its main thread has little to do for each call, and every call waits for
 * it: where processors are short, it is the first to get one. What the launcher starts, and so every
 * sandbox, has the usual priority again (`native/launcher/src/priority.rs`).
 */
import { getPriority, setPriority } from 'node:os';
import { limits } from './model/limits.ts';

/** Of the calling thread, and of those that it makes from now on. Without the right to (CAP_SYS_NICE) it stays as it is. */
export function raisePriority(): void {
  try {
    setPriority(getPriority() - limits.processor.serviceNiceness);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

function isRefusal(error: unknown): boolean {
  const { code, info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
  return code === 'ERR_SYSTEM_ERROR' && (info?.code === 'EACCES' || info?.code === 'EPERM');
}
