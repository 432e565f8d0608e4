/**
 * Forwarding of replies from the outside. A host that forwards nothing (ip_forward 0) must forward packets from
 * its uplinks to its sandboxes, and to them alone: our tables drop everything else that would now be forwarded.
 * Each instance that uses an uplink is noted host-wide, as `<uplink>/<instance>`; the last of them to go switches
 * forwarding off again.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { currentBootId, machineDir, withMutex } from '../host/locks.ts';

const notesDir = join(machineDir, 'uplinks');
const routeUp = 0x1;
const ANYWHERE = '00000000';
const ROUTES_PIECE_BYTES = 4_096;

/**
 * Notes this instance for the uplinks that it needs forwarded, and returns them; none when the host forwards
 * anyway. Apply the rules that guard them, then call `openUplinks`.
 */
export function noteUplinks(instanceId: string): string[] {
  if (hostForwards()) return [];
  return withMutex(() => {
    const needed = defaultRouteInterfaces().filter((name) => !isForwarding(name) || usersOf(name).length > 0);
    for (const name of needed) {
      mkdirSync(join(notesDir, name), { recursive: true, mode: 0o700 });
      writeFileSync(join(notesDir, name, instanceId), currentBootId(), { mode: 0o600 });
    }
    return uplinksOf(instanceId);
  });
}

export function openUplinks(names: string[]): void {
  for (const name of names) setForwarding(name, '1');
}

/** Switches off the uplinks that no other instance uses. */
export function restoreUplinks(instanceId: string): void {
  withMutex(() => {
    for (const name of uplinksOf(instanceId)) {
      rmSync(join(notesDir, name, instanceId));
      if (usersOf(name).length > 0) continue;
      if (!hostForwards()) setForwarding(name, '0');
      rmSync(join(notesDir, name), { recursive: true });
    }
  });
}

/** Returns the speed of the slowest link with a default route, in Mbit/s; null where the kernel knows none. */
export function linkSpeedMbps(): number | null {
  const speeds = defaultRouteInterfaces().map(speedOf);
  const known = speeds.filter((speed) => speed > 0);
  return known.length === 0 ? null : Math.min(...known);
}

/** A link that is down, or has no speed, says so by an error or by -1. */
function speedOf(name: string): number {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/speed`, 'utf8'));
  } catch {
    return -1;
  }
}

function uplinksOf(instanceId: string): string[] {
  if (!existsSync(notesDir)) return [];
  return readdirSync(notesDir).filter(
    (name) => usersOf(name).includes(instanceId) && existsSync(settingOf(name)),
  );
}

/** Ignores notes of an earlier boot, whose kernel settings are gone. */
function usersOf(name: string): string[] {
  const dir = join(notesDir, name);
  if (!existsSync(dir)) return [];
  return readdirSync(dir).filter((user) => readFileSync(join(dir, user), 'utf8') === currentBootId());
}

function hostForwards(): boolean {
  return readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8').trim() === '1';
}

function defaultRouteInterfaces(): string[] {
  const names = firstRoutes().flatMap((line) => {
    const [name = '', destination, , flags = '0', , , , mask] = line.split('\t');
    const isDefault = destination === ANYWHERE && mask === ANYWHERE;
    return isDefault && (Number.parseInt(flags, 16) & routeUp) !== 0 ? [name] : [];
  });
  return [...new Set(names)];
}

/** Returns the first lines of the table: the kernel lists routes by destination, and each machine has one. */
function firstRoutes(): string[] {
  const table = openSync('/proc/net/route', 'r');
  try {
    const piece = Buffer.alloc(ROUTES_PIECE_BYTES);
    for (let text = ''; ; ) {
      const read = readSync(table, piece);
      text += piece.toString('latin1', 0, read);
      const lines = text.split('\n').slice(1);
      if (read === 0 || lines.slice(0, -1).some((line) => line.split('\t')[1] !== ANYWHERE)) return lines;
    }
  } finally {
    closeSync(table);
  }
}

function isForwarding(name: string): boolean {
  return readFileSync(settingOf(name), 'utf8').trim() === '1';
}

function setForwarding(name: string, value: '0' | '1'): void {
  if (existsSync(settingOf(name))) writeFileSync(settingOf(name), value);
}

function settingOf(name: string): string {
  return `/proc/sys/net/ipv4/conf/${name}/forwarding`;
}
