/** A host in memory: what is left of machines, disks, archives and images when the service is killed. */
import { createHash } from 'node:crypto';
import type { LearningPolicy, NetworkPolicy } from '../../../src/model/network/policy.ts';
import type { SecretUse } from '../../../src/model/secrets/use.ts';

export interface Disk {
  gb: number;
  /** Contents by name. */
  files: Map<string, string>;
}

/** A packed disk. */
export interface Archive {
  disk: Disk;
  digest: string;
}

/** Bounds of a machine, in processors and GiB. */
export interface MachineSize {
  cpu: number;
  memory: number;
}

export interface Machine {
  generation: number;
  size: MachineSize;
  /** Tells one start from another. */
  boot: number;
  /** The one of the cluster's nodes that it runs on. */
  node: number;
  /** Asked to end while its node was away: it ends when the node is back. */
  doomed: boolean;
  /** Called once, when PID 1 ends. */
  readonly onEnd: Set<() => void>;
  alive: boolean;
}

/** All that the host has of one sandbox. */
export interface Traces {
  /** Generations of written bundles; each was written after the disk was there. */
  bundles: number[];
  disk: Disk | null;
  restoring: Disk | null;
  staged: Disk | null;
  archive: Archive | null;
  partial: Archive | null;
  machine: Machine | null;
  slot: boolean;
}

export interface StoredImage {
  digest: string;
  reference: string;
  /** Milliseconds since the epoch. */
  usedAt: number;
}

/** Called before a copy of a disk goes, and where a machine's image is gone. */
export interface Watchers {
  dropsDisk(id: string, traces: Traces): void;
  dropsArchive(id: string, traces: Traces): void;
  destroys(id: string, traces: Traces): void;
  misses(imageDigest: string): void;
  /** Called for a second machine beside a living one. */
  doubles(id: string): void;
}

const SLOTS = 24;
const NODES = 2;

export class MemoryHost {
  readonly sandboxes = new Map<string, Traces>();
  /** By digest. */
  readonly images = new Map<string, StoredImage>();
  /** Captured disks by id; null for a half-made one. */
  readonly captures = new Map<string, Disk | null>();
  /** Sandboxes whose traces changed since somebody looked. */
  readonly changed = new Set<string>();
  /** Network policies in force; a machine without one reaches nothing. */
  readonly networks = new Map<string, NetworkPolicy | LearningPolicy>();
  /** Secrets in force beside them. */
  readonly secrets = new Map<string, readonly SecretUse[]>();
  /** Certificates that programs inside trust. */
  readonly trusted = new Map<string, string>();
  watchers: Watchers | null = null;
  freeDiskGb = 500;
  freeMemoryGb = 64;
  /** Nodes that do not answer; their machines go on. */
  readonly away = new Set<number>();
  #boots = 0;

  /** Makes the sandbox's folder when it is not there. @returns Whether it made it. */
  makeFolder(id: string): boolean {
    if (this.sandboxes.has(id)) return false;
    const empty = {
      disk: null,
      restoring: null,
      staged: null,
      archive: null,
      partial: null,
      machine: null,
      slot: false,
    };
    this.sandboxes.set(id, { bundles: [], ...empty });
    return true;
  }

  /** For a change of the traces. */
  of(id: string): Traces {
    const traces = this.sandboxes.get(id);
    if (!traces) throw new Error(`the host has no trace of ${id}`);
    this.changed.add(id);
    return traces;
  }

  running(id: string): Machine | null {
    const machine = this.sandboxes.get(id)?.machine ?? null;
    return machine?.alive ? machine : null;
  }

  freeSlots(): number {
    return SLOTS - [...this.sandboxes.values()].filter(({ slot }) => slot).length;
  }

  boot(id: string, generation: number, { cpu, memory }: MachineSize): void {
    const size = { cpu, memory };
    if (this.running(id)) this.watchers?.doubles(id);
    const node = this.nodes().find((each) => !this.away.has(each)) ?? 0;
    const fresh = { doomed: false, onEnd: new Set<() => void>(), alive: true };
    this.of(id).machine = { generation, size, boot: ++this.#boots, node, ...fresh };
  }

  /** All nodes, with another one first each time. */
  nodes(): number[] {
    return Array.from({ length: NODES }, (_, at) => (this.#boots + at) % NODES);
  }

  /** Returns true for a machine whose node does not answer. */
  isAway(id: string): boolean {
    const machine = this.running(id);
    return machine !== null && this.away.has(machine.node);
  }

  /** Brings a node back, with its machines, or without those that `ends`. */
  bringBack(node: number, ends: (machine: Machine) => boolean): void {
    this.away.delete(node);
    for (const [id, { machine }] of this.sandboxes) {
      if (!machine?.alive || machine.node !== node || !(machine.doomed || ends(machine))) continue;
      this.endInit(id);
      Object.assign(this.of(id), { machine: null, slot: false });
    }
  }

  /** Ends PID 1; nothing happens when it does not run. */
  endInit(id: string): void {
    const machine = this.running(id);
    if (!machine) return;
    machine.alive = false;
    this.changed.add(id);
    for (const act of machine.onEnd) act();
  }

  /** Ends all machines, as a reboot does. */
  reboot(): void {
    for (const id of this.sandboxes.keys()) this.endInit(id);
    this.away.clear();
  }

  remove(id: string): void {
    this.sandboxes.delete(id);
    this.changed.add(id);
  }
}

export function packed(disk: Disk): Archive {
  const copy = copyOf(disk);
  const digest = createHash('sha256')
    .update(JSON.stringify([copy.gb, ...copy.files]))
    .digest('hex');
  return { disk: copy, digest };
}

export function copyOf({ gb, files }: Disk): Disk {
  return { gb, files: new Map(files) };
}
