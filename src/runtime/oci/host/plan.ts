/**
 * Host ids, address and names derived from a slot's number alone, so that none of them needs to be stored.
 * Host-wide names begin with the instance's id; the firewall matches interfaces by that prefix.
 */
import { join } from 'node:path';

export type NetworkMode = 'nat' | 'none';

/** Owner of slots. */
export interface Instance {
  /** 6 of [0-9a-z] */
  id: string;
  /** Own folder under /run; `dataDir` holds all stored data. */
  runDir: string;
  dataDir: string;
}

/** Slot for one running machine: its host user ids, its namespaces and its address. */
export interface Slot {
  /** Host-wide number, locked under /run/sandhaven/slots. */
  index: number;
  /** First of 65,536 host user and group ids: 200000 + 65536 × index. */
  uidBase: number;
  /** Pinned namespaces (bind mounts of /proc/…/ns/*), joined by the machine. */
  userNamespacePath: string;
  netNamespacePath: string;
  /** Address of the machine, a /32. Empty, like the two below, for a machine with nothing but loopback. */
  address: string;
  /** Address of the host's end: default route and DNS server of the machine. */
  gateway: string;
  /** Name of the host's end of the link pair. */
  hostInterface: string;
}

export const uidsPerSlot = 65_536;
const firstUid = 200_000;
/** Hosts used per /24: addresses that end in 0 and 255 confuse some software. */
const hostsPerBlock = 254;

export function uidBaseOf(index: number): number {
  return firstUid + uidsPerSlot * index;
}

/** Returns the slot of a host user id; negative for the host's own users. */
export function indexOfUid(uid: number): number {
  return Math.floor((uid - firstUid) / uidsPerSlot);
}

export function addressOf(index: number): string {
  return `10.213.${Math.floor(index / hostsPerBlock)}.${(index % hostsPerBlock) + 1}`;
}

/** Returns the slot of an address; NaN for other addresses. */
export function indexOfAddress(address: string): number {
  const [, block, host] = /^10\.213\.(\d+)\.(\d+)$/.exec(address) ?? [];
  return Number(block) * hostsPerBlock + Number(host) - 1;
}

/** Common prefix of the names of all host ends. */
export function interfacePrefix(instanceId: string): string {
  return `sh${instanceId}-`;
}

export function interfaceOf(instanceId: string, index: number): string {
  return `${interfacePrefix(instanceId)}${index}`;
}

/** MAC address of all host ends: each is alone on its link with one machine. */
export const hostMac = '02:53:48:00:00:01';

export function machineMac(index: number): string {
  const [high, low] = [index >> 8, index & 0xff].map((byte) => byte.toString(16).padStart(2, '0'));
  return `02:53:48:01:${high}:${low}`;
}

export function tableOf(instanceId: string): string {
  return `sandhaven_${instanceId}`;
}

/** Table that counts and limits traffic. */
export function trafficTableOf(instanceId: string): string {
  return `${tableOf(instanceId)}_traffic`;
}

export function slotsDir(instance: Pick<Instance, 'runDir'>): string {
  return join(instance.runDir, 'slots');
}

export function slotDir(instance: Instance, index: number): string {
  return join(slotsDir(instance), String(index));
}

/** Address, gateway and host interface are empty with the network `none`. */
export function slotOf(instance: Instance, index: number, gateway: string | null): Slot {
  const dir = slotDir(instance, index);
  return {
    index,
    uidBase: uidBaseOf(index),
    userNamespacePath: join(dir, 'user'),
    netNamespacePath: join(dir, 'net'),
    address: gateway === null ? '' : addressOf(index),
    gateway: gateway ?? '',
    hostInterface: gateway === null ? '' : interfaceOf(instance.id, index),
  };
}
