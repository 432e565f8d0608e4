/**
 * Traffic of this instance's machines: counted and limited by a table of nftables, read here. Machines are known by the
 * addresses of their slots; what an address counted belongs to the machine that held it, also when that has just ended.
 *
 * Counts go on in the kernel while no service runs. The last ones that were read are noted beside the slots, in memory of
 * the same boot, so that the next service counts nothing twice.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, MachineTraffic, NetworkTraffic, TrafficLimits } from '../../../control/ports/index.ts';
import { addTraffic, noTraffic, type TrafficCount } from '../../../model/network/traffic.ts';
import { type Instance, indexOfAddress, trafficTableOf } from '../host/plan.ts';
import { runCommand } from './command.ts';
import { between, type Counts, hasRules, listCounts, type Mark, markOf } from './traffic/counts.ts';
import { type Limited, limitedOf, renderChanges, unlimitedAddresses } from './traffic/limited.ts';
import { type EachMachine, renderTraffic } from './traffic/table.ts';
import { linkSpeedMbps } from './uplinks.ts';

export interface Traffic extends NetworkTraffic {
  /** Makes the table unless an earlier service has left it. */
  begin(): Promise<void>;
  /** Notes that a machine has got an owner, or a slot. */
  assigned(id: string): void;
  /** Notes that the machine no longer holds this slot. */
  released(id: string, index: number): void;
  /** Waits for changes under way; counts and limits stay in force. */
  close(): Promise<void>;
}

export interface TrafficDependencies {
  instance: Instance;
  each: EachMachine;
  /** Slots by machine. */
  held: ReadonlyMap<string, number>;
  ownerOf(id: string): string;
  log: Log;
}

const nobody: TrafficLimits = { refused: new Set(), owners: new Map(), divided: null };

export function createTraffic({ instance, each, held, ownerOf, log }: TrafficDependencies): Traffic {
  const table = trafficTableOf(instance.id);
  const noteFile = join(instance.runDir, 'traffic');
  /** Counts of the table as last read. */
  let last: Counts = new Map();
  /** State of the table at that time; null for one that was not seen whole. */
  let seen: Mark | null = null;
  /** Text of the note, as last written. */
  let noted = '';
  /** Traffic that was read from the table, and by nobody from here. */
  const unread = new Map<string, TrafficCount>();
  /** Machines that left their slots since the table was read. */
  const former = new Map<number, string>();
  /** Owners of machines, also of those that have just ended. */
  const owners = new Map<string, string>();
  let wanted = nobody;
  /** Limits in the table; null while it is that of an earlier service. */
  let inForce: Limited | null = null;
  let hasBegun = false;
  let turn: Promise<void> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  async function replace(limited: Limited): Promise<void> {
    await runCommand('nft', ['-f', '-'], renderTraffic(instance.id, each, limited));
    inForce = limited;
    last = new Map();
    seen = null;
  }

  /**
   * Reads the table, which is made anew where another program has removed it. Where no packet was counted since, there is nothing
   * to read, and where no program has changed any table, this one is as it was.
   */
  async function collect(): Promise<void> {
    const mark = await markOf(table);
    const isChanged = mark.generation !== seen?.generation;
    if (isChanged && inForce && !(await hasRules(table, rulesOf(instance.id, each)))) return makeAgain();
    if (mark.packets === null || mark.packets !== seen?.packets) {
      const counts = await listCounts(table);
      if (!counts) return makeAgain();
      await take(counts);
    }
    former.clear();
    seen = mark;
  }

  async function makeAgain(): Promise<void> {
    log.warn('the table that counts traffic was changed by another program; made again');
    await replace(limitedOf(wanted, held, ownerOf));
  }

  async function take(counts: Counts): Promise<void> {
    const holders = new Map([...held].map(([id, index]) => [index, id]));
    for (const [address, count] of counts) {
      const since = between(last.get(address), count);
      const index = indexOfAddress(address);
      const id = former.get(index) ?? holders.get(index);
      if (id !== undefined) unread.set(id, addTraffic(unread.get(id) ?? noTraffic, since));
    }
    // Elements stay: a list that lacks one was read while the kernel moved them.
    last = new Map([...last, ...counts]);
    const note = JSON.stringify([...last]);
    if (note !== noted) await writeFile(noteFile, note, { mode: 0o600 });
    noted = note;
  }

  async function apply(): Promise<void> {
    const next = limitedOf(wanted, held, ownerOf);
    if (inForce === null) {
      // Counts begin anew with the table.
      await collect();
      return replace(next);
    }
    const commands = renderChanges(table, inForce, next);
    if (commands === '') return;
    try {
      await runCommand('nft', ['-f', '-'], commands);
      inForce = next;
    } catch (error) {
      log.warn('limits of traffic could not be changed; the whole table is made again', {
        reason: String((error as Error).cause ?? error),
      });
      await collect();
      await replace(next);
    }
  }

  const isRefused = (id: string) => wanted.refused.has(id) || wanted.refused.has(ownerOf(id));

  return {
    async begin() {
      const counts = await listCounts(table);
      if (counts) last = readNote(noteFile) ?? counts;
      else await replace(unlimitedAddresses);
      hasBegun = true;
    },

    read: () =>
      inTurn(async () => {
        if (!hasBegun) return [];
        // Without machines nothing has passed since the last reading.
        if (held.size > 0 || former.size > 0) await collect();
        const all = new Map([...held.keys()].map((id) => [id, noTraffic]));
        for (const [id, count] of unread) all.set(id, count);
        unread.clear();
        const result = [...all].map(([id, count]): MachineTraffic => {
          return { id, ownerId: owners.get(id) ?? ownerOf(id), isRunning: held.has(id), ...count };
        });
        for (const id of owners.keys()) if (!held.has(id)) owners.delete(id);
        return result;
      }),

    limit(limits) {
      wanted = limits;
      return inTurn(async () => {
        if (hasBegun) await apply();
      });
    },

    linkMbps: linkSpeedMbps,

    assigned(id) {
      owners.set(id, ownerOf(id));
      if (!held.has(id) || !isRefused(id)) return;
      inTurn(apply).catch((error) =>
        log.warn('a machine is not refused yet', { sandbox: id, reason: String(error.cause ?? error) }),
      );
    },

    released(id, index) {
      // Of several within one reading, the first held it longest.
      if (!former.has(index)) former.set(index, id);
    },

    async close() {
      await turn;
      hasBegun = false;
    },
  };
}

/** Returns null where there is no note, or one that was cut off. */
function readNote(file: string): Counts | null {
  try {
    return new Map(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** Counts rules: lines of chains, but for the first, which attaches the chain. */
function rulesOf(instanceId: string, each: EachMachine): number {
  const table = renderTraffic(instanceId, each, unlimitedAddresses);
  return [...table.matchAll(/^ {4}(?!type )\S/gm)].length;
}
