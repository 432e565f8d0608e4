/**
 * Makes and removes a slot's parts in the kernel: a pinned user and network namespace and, with a network, a
 * routed pair of links. One process per batch; machines share nothing, no bridge and so no layer 2.
 */
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
export async function removeSlots(
  instance: Instance,
  indexes: number[],
  launcherPath: string,
): Promise<void> {
  const links = indexes.flatMap((index) => ['--link', interfaceOf(instance.id, index)]);
  const pins = indexes.flatMap((index) => pinsOf(instance, index));
  await runCommand(launcherPath, ['unpin-namespaces', ...links, ...pins]);
  for (const index of indexes) rmSync(slotDir(instance, index), { recursive: true, force: true });
}

/** Makes the folder of all slots a mount, so that the pins in it stay out of other mount namespaces. */
export async function ownSlotsFolder(instance: Instance, launcherPath: string): Promise<void> {
  mkdirSync(slotsDir(instance), { recursive: true, mode: 0o700 });
  await runCommand(launcherPath, ['slots-folder', slotsDir(instance)]);
}

/** Removes the folder of all slots, of which none is left. */
export async function removeSlotsFolder(instance: Instance, launcherPath: string): Promise<void> {
  await runCommand(launcherPath, ['unpin-namespaces', '--folder', slotsDir(instance)]);
  rmSync(slotsDir(instance), { recursive: true, force: true });
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
  return pinsOf(instance, index).every(isNamespace);
}

/** Adds the host's address for machines, on loopback, so that it exists without any machine. */
export async function addGatewayAddress(gateway: string): Promise<void> {
  // Link scope keeps the host from choosing it as the source of traffic of its own.
  await runCommand('ip', ['address', 'replace', `${gateway}/32`, 'dev', 'lo', 'scope', 'link']);
}

/** Succeeds also where the address is gone, such as by another service's start that frees the same dead instance. */
export async function removeGatewayAddress(gateway: string): Promise<void> {
  const address = `${gateway}/32`;
  const shown = () => runCommand('ip', ['-oneline', 'address', 'show', 'dev', 'lo', 'to', address]);
  if ((await shown()).trim() === '') return;
  await runCommand('ip', ['address', 'del', address, 'dev', 'lo']).catch(async (error) => {
    if ((await shown()).trim() !== '') throw error;
  });
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

function pinsOf(instance: Instance, index: number): string[] {
  return ['user', 'net'].map((name) => join(slotDir(instance, index), name));
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
