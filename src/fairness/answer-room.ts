/**
 * Memory of results between collection and sending: each user has a share of it, and the total is bounded. Code that
 * collects a result takes room first; the room belongs to the call in progress.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { limits } from '../model/limits.ts';
import { FairQueue } from './fair-queue.ts';
import type { Release } from './shares.ts';

/** Room held by one call. */
export class AnswerHold {
  readonly #room: FairQueue;
  readonly #owner: string;
  readonly #releases: Release[] = [];
  #over = false;

  constructor(room: FairQueue, owner: string) {
    this.#room = room;
    this.#owner = owner;
  }

  /** Waits for room, which it releases at the end at the latest. Rejects with `resource_exhausted`. */
  async take(bytes: number, signal?: AbortSignal): Promise<Release> {
    if (bytes <= limits.smallAnswerBytes) return () => {};
    const release = await this.#room.take(this.#owner, bytes, signal);
    if (this.#over) release();
    else this.#releases.push(release);
    return release;
  }

  /** Releases all room, once the answer is sent or its reader is gone. */
  release(): void {
    this.#over = true;
    for (const release of this.#releases.splice(0)) release();
  }
}

const holds = new AsyncLocalStorage<AnswerHold>();

export class AnswerRoom {
  readonly #room = new FairQueue({
    ...limits.shares.answers,
    what: 'bytes of answers are being made or have yet to be read',
  });

  hold(owner: string): AnswerHold {
    return new AnswerHold(this.#room, owner);
  }
}

/** Runs `work` so that it, and everything that it begins, takes its room from this hold. */
export function collecting<T>(hold: AnswerHold, work: () => T): T {
  return holds.run(hold, work);
}

/** Returns the hold of the current call; outside of a call there is none, and no bound. */
export function currentHold(): AnswerHold | undefined {
  return holds.getStore();
}
