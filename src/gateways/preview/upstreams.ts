/**
 * Keeps idle connections to applications for their next request. One that sends anything while idle is
 * dropped: those bytes belong to no request.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../../model/limits.ts';

export type Connect = (sandboxId: string, port: number, signal: AbortSignal) => Promise<Duplex>;

export interface Target {
  sandboxId: string;
  port: number;
}

interface Idle {
  socket: Duplex;
  /** Removes it from the idle ones. */
  release(): void;
}

export class Upstreams {
  readonly #connect: Connect;
  readonly #idle = new Map<string, Idle[]>();
  #count = 0;
  #closed = false;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  open({ sandboxId, port }: Target, signal: AbortSignal): Promise<Duplex> {
    return this.#connect(sandboxId, port, signal);
  }

  /** Returns an idle connection; null when there is none. */
  take(target: Target): Duplex | null {
    const idle = this.#idle.get(keyOf(target))?.at(-1);
    if (!idle) return null;
    idle.release();
    return idle.socket.destroyed ? this.take(target) : idle.socket;
  }

  /** Keeps a connection after a completely answered request. */
  keep(target: Target, socket: Duplex): void {
    const waiting = this.#idle.get(keyOf(target)) ?? [];
    const { idlePerPort, idle } = limits.preview;
    if (this.#closed || socket.destroyed || waiting.length >= idlePerPort || this.#count >= idle) {
      socket.destroy();
      return;
    }
    this.#idle.set(keyOf(target), waiting);
    this.#wait(target, waiting, socket);
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of [...this.#idle.values()].flat()) socket.destroy();
  }

  #wait(target: Target, waiting: Idle[], socket: Duplex): void {
    const drop = () => {
      entry.release();
      socket.destroy();
    };
    const timer = setTimeout(drop, limits.preview.idleMs);
    timer.unref();
    const events = ['data', 'end', 'error', 'close'];
    const entry: Idle = {
      socket,
      release: () => {
        clearTimeout(timer);
        for (const event of events) socket.off(event, drop);
        waiting.splice(waiting.indexOf(entry), 1);
        if (waiting.length === 0) this.#idle.delete(keyOf(target));
        this.#count -= 1;
      },
    };
    waiting.push(entry);
    this.#count += 1;
    for (const event of events) socket.on(event, drop);
    socket.resume();
  }
}

function keyOf({ sandboxId, port }: Target): string {
  return `${sandboxId} ${port}`;
}
