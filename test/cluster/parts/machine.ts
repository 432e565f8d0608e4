/** A node that loses its power, its programs or its network, and comes back. */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Node, type NodeOptions, type NodeParts, startNode } from '../node.ts';
import { linkNode } from '../rooms/links.ts';
import type { Room } from '../rooms/room.ts';
import { areUnmounted } from '../storage/disks.ts';

export interface Machine extends Node {
  /** Its programs, which are others after each start of the node. */
  readonly parts: NodeParts;
  /** Ends all its processes and Pods at once, as a loss of power does; its disks stay. Resolves when all is gone. */
  kill(): Promise<void>;
  /**
   * Starts it again with an empty /run and with a network.
   * @param disks `lost` gives it empty ones: no images, no files of Pods, no claims' disks.
   */
  start(disks: 'kept' | 'lost'): Promise<void>;
  /** Calls back after each further start. */
  onStart(started: () => void): void;
  /** Loses all packets between the control plane and this node with its Pods; those of others pass. */
  cut(): void;
  heal(): void;
}

export interface MachineOptions extends NodeOptions {
  control: Room;
  /** All nodes of the cluster. */
  nodes: Node[];
  openRoom(): Promise<Room>;
}

const GONE_TIMEOUT_MS = 20_000;

/** Starts the node's programs. What it returns is the node itself, with more methods. */
export function startMachine(options: MachineOptions): Machine {
  const { node, nodes, slot, control } = options;
  let parts = startNode(options);
  const atStart: (() => void)[] = [];
  const methods = {
    onStart: (started: () => void) => void atStart.push(started),
    async kill() {
      await node.room.end();
      await slot.removeCgroup(node.name);
      // The kernel takes these down a moment after the processes. A disk that is mounted twice would be ruined.
      await until(() => !isPluggedIn(control, node.name) && areUnmounted(node));
    },
    async start(disks: 'kept' | 'lost') {
      if (node.room.isOpen) throw new Error(`${node.name} runs already`);
      if (disks === 'lost') rmSync(node.folder, { recursive: true });
      node.room = await options.openRoom();
      linkNode(slot, control, nodes, node);
      parts = startNode(options);
      for (const started of atStart) started();
    },
    cut: () => void node.room.run(['nft', '-f', '-'], cutFrom(slot.address(1))),
    heal: () => void node.room.run(['nft', 'delete', 'table', 'ip', 'cut']),
  };
  const machine = Object.assign(node, methods);
  return Object.defineProperty(machine, 'parts', { get: () => parts }) as Machine;
}

/** After the translation of Services' addresses on the way out, and before it on the way in. */
function cutFrom(controlPlane: string): string {
  return `table ip cut {
  chain in { type filter hook prerouting priority raw; ip saddr ${controlPlane} drop; }
  chain out { type filter hook postrouting priority srcnat + 10; ip daddr ${controlPlane} drop; }
}
`;
}

function isPluggedIn(control: Room, link: string): boolean {
  return control.run(['ip', '-brief', 'link', 'show', 'type', 'veth']).includes(`${link}@`);
}

async function until(isDone: () => boolean): Promise<void> {
  const deadline = Date.now() + GONE_TIMEOUT_MS;
  while (!isDone()) {
    if (Date.now() > deadline) throw new Error('links or disks of a killed node remain');
    await delay(20);
  }
}
