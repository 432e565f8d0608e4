/**
 * Traffic of one UTC day, by sandbox and by owner. An owner's counts stay when sandboxes are deleted. Those of sandboxes that
 * run are all kept, of others a bounded number.
 */
import { limits } from '../../../model/limits.ts';
import { addTraffic, allBytes, noTraffic, type TrafficCount } from '../../../model/network/traffic.ts';
import type { MachineTraffic } from '../../ports/index.ts';

export class DayTraffic {
  #day: string;
  #owners = new Map<string, TrafficCount>();
  /** Least recently counted first. */
  #sandboxes = new Map<string, TrafficCount>();

  constructor(day: string) {
    this.#day = day;
  }

  /** Adds to this day's counts; another day than the last one begins at nothing. */
  add(day: string, machines: readonly MachineTraffic[]): void {
    if (day !== this.#day) {
      this.#day = day;
      this.#owners.clear();
      this.#sandboxes.clear();
    }
    for (const machine of machines) {
      const { id, ownerId } = machine;
      if (machine.sentBytes + machine.receivedBytes + machine.refusedConnections === 0) continue;
      const before = this.ofSandbox(id);
      this.#sandboxes.delete(id);
      this.#sandboxes.set(id, addTraffic(before, machine));
      if (ownerId !== id) this.#owners.set(ownerId, addTraffic(this.ofOwner(ownerId), machine));
    }
    this.#forget(new Set(machines.flatMap(({ id, isRunning }) => (isRunning ? [id] : []))));
  }

  ofOwner(id: string): TrafficCount {
    return this.#owners.get(id) ?? noTraffic;
  }

  ofSandbox(id: string): TrafficCount {
    return this.#sandboxes.get(id) ?? noTraffic;
  }

  /** Returns the owners that have this many bytes, running sandboxes or not. */
  ownersFrom(bytes: number): string[] {
    return idsFrom(this.#owners, bytes);
  }

  sandboxesFrom(bytes: number): string[] {
    return idsFrom(this.#sandboxes, bytes);
  }

  toText(): string {
    const rows = (counts: Map<string, TrafficCount>) =>
      [...counts].map(([id, { sentBytes, receivedBytes, refusedConnections }]) => {
        return [id, sentBytes, receivedBytes, refusedConnections] as const;
      });
    return JSON.stringify({ day: this.#day, owners: rows(this.#owners), sandboxes: rows(this.#sandboxes) });
  }

  /** Takes up what `toText` gave on the same day. Throws when the text is another. */
  restore(text: string): void {
    const { day, owners, sandboxes } = JSON.parse(text);
    const [byOwner, bySandbox] = [countsOf(owners), countsOf(sandboxes)];
    if (day !== this.#day) return;
    this.#owners = byOwner;
    this.#sandboxes = bySandbox;
  }

  #forget(running: ReadonlySet<string>): void {
    let excess = this.#sandboxes.size - running.size - limits.traffic.stoppedKept;
    for (const id of this.#sandboxes.keys()) {
      if (excess <= 0) return;
      if (running.has(id)) continue;
      this.#sandboxes.delete(id);
      excess -= 1;
    }
  }
}

function idsFrom(counts: Map<string, TrafficCount>, bytes: number): string[] {
  return [...counts].flatMap(([id, count]) => (allBytes(count) >= bytes ? [id] : []));
}

function countsOf(rows: unknown): Map<string, TrafficCount> {
  if (!Array.isArray(rows)) throw new Error('not a list of counts');
  return new Map(
    rows.map(([id, ...numbers]): [string, TrafficCount] => {
      const [sentBytes, receivedBytes, refusedConnections] = numbers.map(Number);
      const count = { sentBytes, receivedBytes, refusedConnections } as TrafficCount;
      if (typeof id === 'string' && Object.values(count).every(isCount)) return [id, count];
      throw new Error('not a count');
    }),
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
