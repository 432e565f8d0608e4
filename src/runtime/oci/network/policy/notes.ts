/**
 * Notes of the policies of slots, for the next start of the service: machines keep theirs meanwhile. Each lies in the
 * folder of its slot and goes with it, so the next holder of the number finds none. Of secrets they have the ports alone.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../../model/limits.ts';
import type { NetworkPolicy } from '../../../../model/network/policy.ts';
import { isMissing } from '../../host/files.ts';
import { type Instance, slotDir } from '../../host/plan.ts';

export interface PolicyNote {
  policy: NetworkPolicy;
  /** Ports of hosts that take secrets of the machine. */
  ledPorts: number[];
}

export interface PolicyNotes {
  /** Writes nothing where the slot's folder is gone. */
  write(index: number, note: PolicyNote): void;
  /**
   * Returns null for a note that was cut off, and without the slot's folder: the machine then reaches nothing until told
   * anew. Without a note in it, the machine is of a version before there were policies, and open as all were.
   */
  read(index: number): PolicyNote | null;
}

export function createPolicyNotes(instance: Instance): PolicyNotes {
  const path = (index: number) => join(slotDir(instance, index), 'policy');
  return {
    write(index, { policy, ledPorts }) {
      try {
        writeFileSync(path(index), JSON.stringify({ ...policy, ledPorts }), { mode: 0o600 });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    read(index) {
      try {
        const { ledPorts = [], ...policy } = JSON.parse(readFileSync(path(index), 'utf8'));
        return { policy, ledPorts };
      } catch (error) {
        const isOlder = isMissing(error) && existsSync(slotDir(instance, index));
        return isOlder ? { policy: { mode: 'open' }, ledPorts: [] } : null;
      }
    },
  };
}

// Notes of packets in sets of the instance's table: those that machines with rules were refused, and those that machines which
// learn have used. A packet that is allowed by a rule costs nothing more than without them.
//
// Each kind of packet is noted once in a while, and a machine notes a few a second, so none fills the sets for others. A full set
// takes no more, which changes no packet's fate.

/** Sets by what became of their packets: with ports, and echo requests. */
export const noteSets = {
  refused: { flows: 'refused', echoes: 'refused_echo' },
  used: { flows: 'used', echoes: 'used_echo' },
} as const;

const FLOW = 'ip saddr . ip daddr . meta l4proto . th dport';
const ECHO = 'ip saddr . ip daddr';

/** Chain that notes a packet of a grant and accepts it. */
export const acceptNoted = 'accept_noted';

/** Renders sets for the inside of the table. */
export function noteSetsText(): string {
  const { slots, packetNotes, packetNoteSeconds } = limits.network;
  const set = (name: string, type: string) =>
    `  set ${name} { type ${type}; size ${packetNotes}; flags dynamic,timeout; timeout ${packetNoteSeconds}s; }`;
  return [
    `  set note_rate { type ipv4_addr; size ${slots}; flags dynamic,timeout; timeout 1m; }`,
    ...Object.values(noteSets).flatMap(({ flows, echoes }) => [
      set(flows, 'ipv4_addr . ipv4_addr . inet_proto . inet_service'),
      set(echoes, 'ipv4_addr . ipv4_addr'),
    ]),
  ].join('\n');
}

/** Renders chains for the inside of the table: `note_refused` returns, the other one accepts. */
export function noteChains(): string {
  return `  chain note_refused {
${notes('refused')}
  }
  chain note_used {
${notes('used')}
  }
  chain ${acceptNoted} {
    ct state new jump note_used
    accept
  }`;
}

function notes(kind: keyof typeof noteSets): string {
  const { flows, echoes } = noteSets[kind];
  const { packetNotesPerSecond, packetNoteBurst } = limits.network;
  const [isFlow, isEcho] = ['meta l4proto { tcp, udp }', 'icmp type echo-request'];
  return `    ${isFlow} ${FLOW} @${flows} return
    ${isEcho} ${ECHO} @${echoes} return
    update @note_rate { ip saddr limit rate over ${packetNotesPerSecond}/second burst ${packetNoteBurst} packets } return
    ${isFlow} add @${flows} { ${FLOW} }
    ${isEcho} add @${echoes} { ${ECHO} }`;
}
