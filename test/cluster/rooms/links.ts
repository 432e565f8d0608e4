/**
 * Joins the rooms and the host by one bridge, which lies in the control plane's room, so that no firewall of the host
 * sees what nodes say to each other. All links end with the rooms.
 */
import { execFileSync } from 'node:child_process';
import type { Node } from '../node.ts';
import type { Room } from './room.ts';
import type { Slot } from './slot.ts';

/** The host's number in the network of the nodes. */
export const HOST = 254;

/** Joins the control plane, the host and all nodes. */
export function linkRooms(slot: Slot, control: Room, nodes: Node[]): void {
  sendNoRedirects(control);
  control.run(['ip', 'link', 'add', 'nodes', 'type', 'bridge']);
  control.run(['ip', 'address', 'add', `${slot.address(1)}/24`, 'dev', 'nodes']);
  control.run(['ip', 'link', 'set', 'nodes', 'up']);
  host(['link', 'add', slot.name, 'type', 'veth', 'peer', 'name', 'host', 'netns', String(control.pid)]);
  plugIn(control, 'host');
  host(['address', 'add', `${slot.address(HOST)}/24`, 'dev', slot.name]);
  host(['link', 'set', slot.name, 'up']);
  for (const node of nodes) {
    linkNode(slot, control, nodes, node);
    host(routeTo(node));
    control.run(['ip', ...routeTo(node)]);
  }
}

/** Joins the new room of a node to the others, whose routes to it remain when its room ends. */
export function linkNode(slot: Slot, control: Room, nodes: Node[], node: Node): void {
  const { name, room, address, podRange } = node;
  sendNoRedirects(room);
  const peer = ['type', 'veth', 'peer', 'name', name, 'netns', String(control.pid)];
  host(['link', 'add', 'eth0', 'netns', String(room.pid), ...peer]);
  plugIn(control, name);
  room.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'eth0']);
  room.run(['ip', 'link', 'set', 'eth0', 'up']);
  room.run(['ip', 'route', 'add', 'default', 'via', slot.address(1)]);
  // What is sent to a Pod that is gone ends here: the control plane would send it back.
  room.run(['ip', 'route', 'add', 'blackhole', podRange]);
  for (const other of nodes) {
    if (other.name !== name) room.run(['ip', ...routeTo(other)]);
  }
}

/**
 * Called before the room's links are made. The host keeps a redirect for five minutes, and would lose what it sends to a Pod
 * of the next cluster with the same address.
 */
function sendNoRedirects(room: Room): void {
  const settings = ['all', 'default'].map((which) => `net.ipv4.conf.${which}.send_redirects=0`);
  room.run(['sysctl', '-q', '-w', ...settings]);
}

function routeTo({ podRange, address }: Node): string[] {
  return ['route', 'add', podRange, 'via', address];
}

function host(argv: string[]): void {
  execFileSync('ip', argv, { stdio: 'pipe' });
}

function plugIn(control: Room, link: string): void {
  control.run(['ip', 'link', 'set', link, 'master', 'nodes', 'up']);
}
