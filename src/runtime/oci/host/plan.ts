/**
 * Values that follow from a slot's number alone and need no storage: host ids, address, names.
 * Machine-global names begin with the instance's id; the firewall matches interfaces by that prefix.
 */
import { join } from 'node:path';
import type { Slot } from '../machine/slot.ts';

export type NetworkMode = 'nat' | 'none';

/** Instance of the slots. */
export interface Instance {
  /** 6 of [0-9a-z] */
  id: string;
  /** Its own folder under /run, and the one that holds all that it keeps. */
  runDir: string;
  dataDir: string;
}

export const uidsPerSlot = 65_536;
const firstUid = 200_000;
/** Hosts per /24 that are used: addresses that end in 0 and 255 confuse some software. */
const hostsPerBlock = 254;

export function uidBaseOf(index: number): number {
  return firstUid + uidsPerSlot * index;
}

/** The slot that a host user id belongs to; negative for the host's own users. */
export function indexOfUid(uid: number): number {
  return Math.floor((uid - firstUid) / uidsPerSlot);
}

export function addressOf(index: number): string {
  return `10.213.${Math.floor(index / hostsPerBlock)}.${(index % hostsPerBlock) + 1}`;
}

/** The slot that an address belongs to; NaN for other addresses. */
export function indexOfAddress(address: string): number {
  const [, block, host] = /^10\.213\.(\d+)\.(\d+)$/.exec(address) ?? [];
  return Number(block) * hostsPerBlock + Number(host) - 1;
}

/** Common start of all host ends' names. */
export function interfacePrefix(instanceId: string): string {
  return `sh${instanceId}-`;
}

export function interfaceOf(instanceId: string, index: number): string {
  return `${interfacePrefix(instanceId)}${index}`;
}

/** One for all host ends: each is alone on its link with one machine. */
export const hostMac = '02:53:48:00:00:01';

export function machineMac(index: number): string {
  const [high, low] = [index >> 8, index & 0xff].map((byte) => byte.toString(16).padStart(2, '0'));
  return `02:53:48:01:${high}:${low}`;
}

export function tableOf(instanceId: string): string {
  return `sandhaven_${instanceId}`;
}

export function slotsDir(instance: Pick<Instance, 'runDir'>): string {
  return join(instance.runDir, 'slots');
}

export function slotDir(instance: Instance, index: number): string {
  return join(slotsDir(instance), String(index));
}

/** With the network `none` a slot has no address, gateway or host interface: they are empty. */
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
