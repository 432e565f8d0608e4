/**
 * The memory that results take from when they are collected until they are sent: a share of each user, a whole of all.
 * What collects a result asks for room before it does, and is known by the call that it works for.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { limits } from '../model/limits.ts';
import { FairQueue } from './fair-queue.ts';

/** Of one call. */
export class AnswerHold {
  readonly #room: FairQueue;
  readonly #owner: string;
  readonly #releases: (() => void)[] = [];
  #over = false;

  constructor(room: FairQueue, owner: string) {
    this.#room = room;
    this.#owner = owner;
  }

  /** Waits for room. Fails with `resource_exhausted`. */
  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    if (bytes <= limits.smallAnswerBytes) return;
    const release = await this.#room.take(this.#owner, bytes, signal);
    if (this.#over) release();
    else this.#releases.push(release);
  }

  /** The answer is sent, or nobody waits for it. */
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

/** `work` and all that it begins collects its results within this hold. */
export function collecting<T>(hold: AnswerHold, work: () => T): T {
  return holds.run(hold, work);
}

/** Of the call that is being carried out; outside of one there is none, and no bound. */
export function currentHold(): AnswerHold | undefined {
  return holds.getStore();
}
