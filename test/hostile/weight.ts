/**
 * What this process weighs beside the others. Where the kernel groups the root's programs by their sessions, a program's
 * niceness counts within its session alone, and each session has a niceness, too. A program that never got a session has
 * an empty file: the kernel weighs it by itself, as one without such groups would.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const file = '/proc/self/autogroup';

/** @param niceness -20 (most) to 19. Programs that this one starts have it, too. */
export function weigh(niceness: number): void {
  if (existsSync(file) && readFileSync(file, 'utf8') !== '') writeFileSync(file, String(niceness));
  else setPriority(niceness);
}
