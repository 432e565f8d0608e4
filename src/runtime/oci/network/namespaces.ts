/**
 * Makes and removes a slot's parts in the kernel: a pinned user and network namespace and, with a network, a
 * routed pair of links. One process per step and batch; machines share nothing, no bridge and so no layer 2.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
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
const hasIPv6 = existsSync('/proc/sys/net/ipv6');

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
    ...indexes.flatMap((index) => pinArguments(instance, index)),
  ]);
  if (gateway === null) return;
  await runCommand(
    'ip',
    ['-batch', '-'],
    lines(indexes.flatMap((index) => hostSide(instance, index, gateway))),
  );
  for (const index of indexes) {
    writeFileSync(`/proc/sys/net/ipv4/conf/${interfaceOf(instance.id, index)}/forwarding`, '1');
  }
  await Promise.all(
    indexes.map((index) =>
      runCommand(
        'nsenter',
        [`--net=${join(slotDir(instance, index), 'net')}`, 'ip', '-batch', '-'],
        lines(machineSide(index, gateway)),
      ),
    ),
  );
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

function pinArguments(instance: Instance, index: number): string[] {
  const dir = slotDir(instance, index);
  return [
    ...['--uid-base', String(uidBaseOf(index))],
    ...['--user', join(dir, 'user')],
    ...['--net', join(dir, 'net')],
  ];
}

/**
 * Both ends have fixed MAC addresses and know each other's: no ARP, so neither a forged answer nor a host set to
 * ignore requests matters, and udev does not rename them.
 */
function hostSide(instance: Instance, index: number, gateway: string): string[] {
  const link = interfaceOf(instance.id, index);
  const address = addressOf(index);
  const net = join(slotDir(instance, index), 'net');
  return [
    `link add ${link} address ${hostMac} type veth peer name eth0 address ${machineMac(index)} netns ${net}`,
    ...(hasIPv6 ? [`link set ${link} addrgenmode none`] : []),
    `link set ${link} up`,
    `route add ${address}/32 dev ${link} src ${gateway}`,
    `neighbor add ${address} lladdr ${machineMac(index)} dev ${link} nud permanent`,
  ];
}

function machineSide(index: number, gateway: string): string[] {
  return [
    `link set eth0 up`,
    `address add ${addressOf(index)}/32 dev eth0`,
    `neighbor add ${gateway} lladdr ${hostMac} dev eth0 nud permanent`,
    `route add ${gateway}/32 dev eth0 scope link`,
    `route add default via ${gateway} dev eth0`,
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
