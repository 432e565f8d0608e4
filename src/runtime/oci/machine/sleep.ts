/**
 * Sleep of machines: one that sleeps is frozen, with its memory, and wakes when somebody opens a channel to its agent. A note
 * beside the machine's state has the time, so that the next service knows who sleeps; both go with the machine, and with a reboot.
 *
 * Invariant: the note is written before the machine is frozen, and removed before it is thawed. A service that is killed in
 * between leaves a machine that sleeps, or one that the next start thaws.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { mapBounded } from '../../../concurrency/in-portions.ts';
import type { MachineSleep } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { readNow } from '../host/files.ts';
import type { Layout } from '../host/layout.ts';
import type { Freezer } from './freezer.ts';

export interface Sleep extends MachineSleep {
  /** Lets machines sleep on that an earlier service has put to sleep. Called before anything else thaws what it left frozen. */
  recover(ids: string[]): Promise<void>;
  /** Counts a channel to the agent of the machine until it is closed. */
  opened<T extends Duplex>(id: string, channel: T): T;
  /** Called when the machine is gone. */
  forget(id: string): void;
}

interface Asleep {
  since: number;
  woken: PromiseWithResolvers<void>;
}

/** Machines frozen at once. */
const AT_ONCE = 16;

export function createSleep(freezer: Freezer, layout: Pick<Layout, 'state'>): Sleep {
  const asleep = new Map<string, Asleep>();
  const channels = new Map<string, Set<Duplex>>();
  const listeners = new Set<(id: string) => void>();
  const noteOf = (id: string) => join(layout.state(id), 'asleep');

  function enter(id: string, since: number): Promise<void> {
    asleep.set(id, { since, woken: Promise.withResolvers() });
    return freezer.hold(id, 'asleep');
  }

  /** Returns false for a machine that is awake. */
  function leave(id: string): boolean {
    const left = asleep.get(id);
    if (!left) return false;
    asleep.delete(id);
    left.woken.resolve();
    for (const listener of listeners) listener(id);
    return true;
  }

  return {
    async begin(id, at, { closesChannels = false } = {}) {
      // Not those that are opened from here on, which wake it.
      const open = closesChannels ? [...(channels.get(id) ?? [])] : [];
      if (!asleep.has(id)) {
        // In memory, like all that is in the run folder: no disk is waited for.
        writeNote(noteOf(id), at);
        await enter(id, at);
        for (const listener of listeners) listener(id);
      }
      for (const channel of open) channel.destroy(fellAsleep());
    },

    async wake(id) {
      if (!leave(id)) return;
      rmSync(noteOf(id), { force: true });
      await freezer.release(id, 'asleep');
    },

    since: (id) => asleep.get(id)?.since ?? null,

    async awake(id, signal) {
      for (let entry = asleep.get(id); entry && !signal.aborted; entry = asleep.get(id)) {
        const aborted = Promise.withResolvers<void>();
        const abort = () => aborted.resolve();
        signal.addEventListener('abort', abort, { once: true });
        await Promise.race([entry.woken.promise, aborted.promise]);
        signal.removeEventListener('abort', abort);
      }
    },

    onChange: (listener) => void listeners.add(listener),

    async recover(ids) {
      await mapBounded(ids, AT_ONCE, async (id) => {
        const note = readNow(noteOf(id));
        // A note that a cut of power left empty says no time.
        if (note !== null) await enter(id, Number(note) || Date.now());
      });
    },

    opened(id, channel) {
      const open = channels.get(id) ?? new Set();
      channels.set(id, open.add(channel));
      channel.once('close', () => {
        open.delete(channel);
        if (open.size === 0 && channels.get(id) === open) channels.delete(id);
      });
      return channel;
    },

    forget(id) {
      leave(id);
      freezer.forget(id);
    },
  };
}

function writeNote(path: string, at: number): void {
  try {
    writeFileSync(path, String(at));
  } catch (error) {
    throw new SandhavenError(
      'unavailable',
      'The machine does not run.',
      { hint: 'Start the sandbox first.' },
      error,
    );
  }
}

function fellAsleep(): SandhavenError {
  return new SandhavenError('unavailable', 'The sandbox was put to sleep while it was being worked in.', {
    hint: 'Try again: any call wakes it.',
    retryable: true,
  });
}
