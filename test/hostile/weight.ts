/**
 * What this process weighs beside the others. Where the kernel groups the root's programs by their sessions, a niceness
 * counts within a session alone, and the session has one of its own. A program that never got a session of its own has
 * an empty file: it is weighed by itself, as on a kernel without such groups.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const file = '/proc/self/autogroup';

/** @param niceness -20 (most) to 19. Programs that this one starts have it, too. */
export function weigh(niceness: number): void {
  if (existsSync(file) && readFileSync(file, 'utf8') !== '') writeFileSync(file, String(niceness));
  else setPriority(niceness);
}
