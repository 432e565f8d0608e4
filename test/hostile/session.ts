/**
 * What this process's session weighs beside the others. Where the kernel groups the root's programs by their sessions, one
 * program's niceness counts within its session alone.
 */
import { existsSync, writeFileSync } from 'node:fs';

const file = '/proc/self/autogroup';

/** @param niceness -20 (most) to 19. */
export function weighSession(niceness: number): void {
  if (existsSync(file)) writeFileSync(file, String(niceness));
}
