/**
 * Makes and removes a slot's parts in the kernel: a pinned user and network namespace and, with a network, a
 * routed pair of links. One process per batch; machines share nothing, no bridge and so no layer 2.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import {
  addressOf,
  hostMac,
  type Instance,
  interfaceOf,
  interfacePrefix,
  machineMac,
  slotDir,
  slotsDir,
  uidBaseOf,
} from '../host/plan.ts';
import { runCommand } from './command.ts';

const nsfsMagic = 0x6e736673;

/**
 * Makes slots whose numbers are locked. `gateway` is the address of the host's end, or null for machines with
 * nothing but loopback. After a failure, `removeSlots` removes the parts already made.
 */
export async function makeSlots(
  instance: Instance,
  indexes: number[],
  gateway: string | null,
  launcherPath: string,
): Promise<void> {
  for (const index of indexes) mkdirSync(slotDir(instance, index), { mode: 0o700 });
  await runCommand(launcherPath, [
    'pin-namespaces',
    ...(gateway === null ? [] : ['--gateway', gateway, '--host-mac', hostMac]),
    ...indexes.flatMap((index) => slotArguments(instance, index, gateway !== null)),
  ]);
}

/** Removes all present parts of these slots; a machine that runs in one loses its network at once. */
export async function removeSlots(instance: Instance, indexes: number[]): Promise<void> {
  const links = linkNames();
  await removeLinks(
    indexes.map((index) => interfaceOf(instance.id, index)).filter((name) => links.has(name)),
  );
  const pins = indexes
    .flatMap((index) => ['user', 'net'].map((name) => join(slotDir(instance, index), name)))
    .filter(isNamespace);
  if (pins.length > 0) await runCommand('umount', ['--lazy', ...pins]);
  for (const index of indexes) rmSync(slotDir(instance, index), { recursive: true, force: true });
}

/** Removes the links as one group, in one step of the kernel: one by one, each waits for its own grace period. */
async function removeLinks(names: string[]): Promise<void> {
  if (names.length === 0) return;
  const group = randomInt(1, 2 ** 31);
  const commands = names.map((name) => `link set ${name} group ${group}`);
  await runCommand('ip', ['-force', '-batch', '-'], lines([...commands, `link del group ${group}`])).catch(
    (error) => {
      // A link also disappears by itself, with the last trace of its namespace.
      const links = linkNames();
      if (names.some((name) => links.has(name))) throw error;
    },
  );
}

/** Numbers of slots with any remains, a folder or a link, locked or not. */
export function slotRemains(instance: Instance): number[] {
  const prefix = interfacePrefix(instance.id);
  const links = [...linkNames()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)));
  const folders = existsSync(slotsDir(instance))
    ? readdirSync(slotsDir(instance))
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : [];
  return [...new Set([...links, ...folders])];
}

/** Returns true when both namespaces are pinned, so that a machine can start in the slot. */
export function isPinned(instance: Instance, index: number): boolean {
  return ['user', 'net'].every((name) => isNamespace(join(slotDir(instance, index), name)));
}

/** Adds the host's address for machines, on loopback, so that it exists without any machine. */
export async function addGatewayAddress(gateway: string): Promise<void> {
  // Link scope keeps the host from choosing it as the source of traffic of its own.
  await runCommand('ip', ['address', 'replace', `${gateway}/32`, 'dev', 'lo', 'scope', 'link']);
}

export async function removeGatewayAddress(gateway: string): Promise<void> {
  const shown = await runCommand('ip', ['-oneline', 'address', 'show', 'dev', 'lo', 'to', `${gateway}/32`]);
  if (shown.trim() !== '') await runCommand('ip', ['address', 'del', `${gateway}/32`, 'dev', 'lo']);
}

/** Arguments of one slot, as in native/launcher/src/slots/mod.rs. */
function slotArguments(instance: Instance, index: number, linked: boolean): string[] {
  const dir = slotDir(instance, index);
  return [
    ...['--uid-base', String(uidBaseOf(index))],
    ...['--user', join(dir, 'user')],
    ...['--net', join(dir, 'net')],
    ...(linked ? ['--link', interfaceOf(instance.id, index)] : []),
    ...(linked ? ['--address', addressOf(index), '--mac', machineMac(index)] : []),
  ];
}

function linkNames(): Set<string> {
  const table = readFileSync('/proc/net/dev', 'utf8');
  return new Set([...table.matchAll(/^ *(\S+):/gm)].map(([, name = '']) => name));
}

function isNamespace(path: string): boolean {
  try {
    return statfsSync(path).type === nsfsMagic;
  } catch {
    return false;
  }
}

function lines(commands: string[]): string {
  return `${commands.join('\n')}\n`;
}
