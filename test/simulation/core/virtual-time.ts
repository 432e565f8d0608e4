/**
 * Time that passes only when it is told to. Timers follow a monotonic clock; the wall clock is that plus an offset,
 * which jumps when somebody sets it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../src/control/ports/index.ts';

interface Timer {
  id: number;
  /** On the monotonic clock, in ms. */
  due: number;
  everyMs: number | null;
  act: () => void;
  /** The process that set it. */
  owner: object | undefined;
}

/** Node fires a timer of 0 ms after 1. */
const SHORTEST_MS = 1;

export class VirtualTime implements Clock {
  #monotonic = 0;
  #offset: number;
  readonly #setBack: { at: number; ms: number }[] = [];
  #setForwardAt = Number.NEGATIVE_INFINITY;
  #drawn = 0;
  readonly #timers = new Map<number, Timer>();

  readonly #owner = new AsyncLocalStorage<object>();
  readonly #stalled = new Set<object>();

  /** @param startMs Time of the wall clock, in ms since the epoch. */
  constructor(startMs: number) {
    this.#offset = startMs;
  }

  now(): number {
    return this.#monotonic + this.#offset;
  }

  /** Monotonic time, in ms since the start. */
  get elapsedMs(): number {
    return this.#monotonic;
  }

  /** Sets the wall clock forward, or back by a negative number. */
  jump(ms: number): void {
    this.#offset += ms;
    if (ms < 0) this.#setBack.push({ at: this.#monotonic, ms: -ms });
    else this.#setForwardAt = this.#monotonic;
  }

  /** Sum of the times by which the wall clock was set back within the last `ms` of monotonic time. */
  setBackWithin(ms: number): number {
    const recent = this.#setBack.filter(({ at }) => at > this.#monotonic - ms);
    return recent.reduce((sum, jump) => sum + jump.ms, 0);
  }

  /** Returns true when the wall clock was set forward within the last `ms` of monotonic time. */
  wasSetForwardWithin(ms: number): boolean {
    return this.#monotonic - this.#setForwardAt <= ms;
  }

  /** Time until the next timer; null without one. */
  untilNextMs(): number | null {
    const next = this.#next();
    return next && Math.max(0, next.due - this.#monotonic);
  }

  /** Lets time pass, and calls the timers that are due in their order. */
  pass(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) {
      this.#monotonic = Math.max(this.#monotonic, next.due);
      if (next.everyMs === null) this.#timers.delete(next.id);
      // As Node does: a timer that comes late makes up for none.
      else next.due = this.#monotonic + next.everyMs;
      this.#act(next);
    }
    this.#monotonic = end;
  }

  /** Runs code of a process: the timers that it sets, and whatever follows from it, are that process's. */
  of<T>(owner: object, run: () => T): T {
    return this.#owner.run(owner, run);
  }

  /** Forgets the timers of a process, as its end does. */
  clear(owner: object): void {
    for (const timer of [...this.#timers.values()]) if (timer.owner === owner) this.#timers.delete(timer.id);
    this.#stalled.delete(owner);
  }

  /** Holds the timers of a process up, as a suspended one; they come late. */
  stall(owner: object): void {
    this.#stalled.add(owner);
  }

  resume(owner: object): void {
    this.#stalled.delete(owner);
  }

  /** Replaces the global timers until the returned function is called. */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const clear = (handle: unknown) => void this.#timers.delete(Number(handle));
    Object.assign(globalThis, {
      setTimeout: (act: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
        this.#set(() => act(...given), ms, null),
      setInterval: (act: () => void, ms = 0) => this.#set(act, ms, Math.max(SHORTEST_MS, ms)),
      clearTimeout: clear,
      clearInterval: clear,
    });
    return () => void Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
  }

  #act({ owner, act }: Timer): void {
    if (owner) this.#owner.run(owner, act);
    else act();
  }

  #set(act: () => void, ms: number, everyMs: number | null) {
    const id = ++this.#drawn;
    this.#timers.set(id, {
      ...{ id, due: this.#monotonic + Math.max(SHORTEST_MS, ms), everyMs, act },
      owner: this.#owner.getStore(),
    });
    return { [Symbol.toPrimitive]: () => id, unref() {}, ref() {} };
  }

  /** The earliest; of several at one time, the one that was set first. */
  #next(): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers.values()) {
      if (timer.owner && this.#stalled.has(timer.owner)) continue;
      if (!next || timer.due < next.due || (timer.due === next.due && timer.id < next.id)) next = timer;
    }
    return next;
  }
}
