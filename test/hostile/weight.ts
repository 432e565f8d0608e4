/**
 * What this process weighs beside the others. The kernel weighs programs in the root of the control groups by their
 * sessions, and programs of one session by their niceness. It weighs those in a group below by that group first, so a
 * process leaves such a group: what it computes would cost the rest of the group, the service perhaps.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { controllerHierarchy, parseHierarchies } from '../../src/runtime/oci/host/hierarchies.ts';

const session = '/proc/self/autogroup';

/** @param niceness -20 (most) to 19. Programs that this one starts have it, too. */
export function weigh(niceness: number): void {
  const cpu = controllerHierarchy(parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')), 'cpu');
  if (cpu) writeFileSync(`${cpu.mountpoint}/cgroup.procs`, String(process.pid));
  // A program that never got a session has an empty file. The kernel weighs it by itself.
  if (existsSync(session) && readFileSync(session, 'utf8') !== '') writeFileSync(session, String(niceness));
  else setPriority(niceness);
}
