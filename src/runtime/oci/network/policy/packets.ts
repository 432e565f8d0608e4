/**
 * Reads what the firewall notes of packets, and reports each note once. It looks while there are machines with rules, and
 * at nothing else.
 */
import type { Log } from '../../../../control/ports/index.ts';
import { sandboxIdPattern } from '../../../../model/ids.ts';
import { limits } from '../../../../model/limits.ts';
import { overlapsBlocked, parseAddressRange } from '../../../../model/network/public-addresses.ts';
import type { NetworkEvent, NetworkReport } from '../../../../model/network/traffic.ts';
import { tableOf } from '../../host/plan.ts';
import { elementsOf, type ListedElement } from '../netlink/questions.ts';
import type { AddressPolicies } from './address-policy.ts';
import { noteSets } from './notes.ts';

export interface Packets {
  /** Reports what is noted by now. Does not reject. */
  read(): Promise<void>;
  /** Drops what is noted of an address so far: its next holder is another machine. */
  drop(address: string): void;
  close(): Promise<void>;
}

export interface PacketsDependencies {
  instanceId: string;
  policies(): AddressPolicies;
  /** Returns the sandbox that holds the slot with this address, and something else for a slot that none holds. */
  holderOf(address: string): string;
  report(reports: NetworkReport[]): void;
  log: Log;
}

interface Note {
  source: string;
  destination: string;
  kind: 'tcp' | 'udp' | 'icmp';
  port: number | null;
  /** Earliest time of the packet. */
  at: number;
}

type Kind = keyof typeof noteSets;

const { packetNoteSeconds, packetReadMs } = limits.network;
/** Notes of one kind of packet are further apart than this. */
const SAME_NOTE_MS = (packetNoteSeconds * 1_000) / 2;
/** The kernel's clock ticks this often, or more often. */
const TICK_MS = 10;
const protocols: Record<number, Note['kind']> = { 1: 'icmp', 6: 'tcp', 17: 'udp' };

export function createPackets({ instanceId, policies, holderOf, report, log }: PacketsDependencies): Packets {
  const table = tableOf(instanceId);
  /** Times of notes that are reported, by kind and note. */
  let known = new Map<string, number>();
  const dropped = new Map<string, number>();
  let reading: Promise<void> = Promise.resolve();
  let isFailing = false;

  const wanted = (): Kind[] => {
    const modes = [...policies().values()];
    if (!modes.some(({ mode }) => mode === 'rules')) return [];
    return modes.some(({ learns }) => learns) ? ['refused', 'used'] : ['refused'];
  };

  async function readAll(): Promise<void> {
    const seen = new Map<string, number>();
    const events: NetworkEvent[] = [];
    for (const kind of wanted()) {
      for (const note of await list(table, kind)) {
        const key = `${kind} ${note.source} ${note.destination} ${note.kind} ${note.port}`;
        const before = known.get(key) ?? Number.NEGATIVE_INFINITY;
        seen.set(key, note.at);
        if (note.at - before > SAME_NOTE_MS) events.push(...eventOf(note, kind));
      }
    }
    known = seen;
    for (const [address, at] of dropped)
      if (at < Date.now() - packetNoteSeconds * 1_000) dropped.delete(address);
    if (events.length > 0) report(events.sort((one, other) => one.at - other.at));
    isFailing = false;
  }

  function eventOf({ source, destination, kind, port, at }: Note, became: Kind): NetworkEvent[] {
    const sandbox = holderOf(source);
    if (!sandboxIdPattern.test(sandbox) || at <= (dropped.get(source) ?? 0)) return [];
    const allowed = became === 'used';
    const why = allowed ? null : whyRefused(destination);
    const parts = { name: null, address: destination, port, rule: null, secret: null, allowed, why };
    return [{ at, sandbox, kind, ...parts, sent: 0, received: 0, ended: false }];
  }

  function read(): Promise<void> {
    reading = reading.then(readAll).catch((error) => {
      if (!isFailing) log.warn('refused packets could not be read', { reason: String(error.cause ?? error) });
      isFailing = true;
    });
    return reading;
  }

  const timer = setInterval(() => {
    if (wanted().length > 0) void read();
  }, packetReadMs).unref();

  return {
    read,
    drop: (address) => void dropped.set(address, Date.now()),
    async close() {
      clearInterval(timer);
      await reading;
    },
  };
}

function whyRefused(address: string): string {
  const range = parseAddressRange(address);
  return range && overlapsBlocked(range) ? 'the address is not public' : 'no rule allows it';
}

async function list(table: string, kind: Kind): Promise<Note[]> {
  const now = Date.now();
  const names = [noteSets[kind].flows, noteSets[kind].echoes];
  const lists = await Promise.all(names.map((name) => elementsOf({ table, name })));
  return lists.flatMap((elements) => notesIn(elements, now));
}

/** Returns the notes in a list of the kernel's, ignoring elements of another form. Each part of a key takes four bytes. */
export function notesIn(elements: ListedElement[], now: number): Note[] {
  return elements.flatMap(({ key, expiresMs }) => {
    if (expiresMs === null || (key.length !== 8 && key.length !== 16)) return [];
    const [source, destination] = [key.subarray(0, 4).join('.'), key.subarray(4, 8).join('.')];
    const kind = key.length === 8 ? 'icmp' : protocols[key.readUInt8(8)];
    const port = key.length === 8 ? null : key.readUInt16BE(12);
    const at = now - (packetNoteSeconds * 1_000 - expiresMs) - TICK_MS;
    return kind ? [{ source, destination, kind, port, at }] : [];
  });
}
