/**
 * Tracks visitors' connections without a request in progress. They have shown no token, so they belong to nobody:
 * above the limit, an address with few takes the place of one of the address with most.
 */
import type { Socket } from 'node:net';
import { Crowd } from '../../fairness/crowd.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';

interface Visitor {
  requests: number;
  /** Non-null while it is idle. */
  leave: (() => void) | null;
}

export class IdleVisitors {
  readonly #crowd = new Crowd({
    total: limits.preview.idleConnections,
    perGroup: limits.preview.idleConnections,
    replaces: true,
  });
  readonly #visitors = new WeakMap<Socket, Visitor>();

  enter(socket: Socket): void {
    const visitor: Visitor = { requests: 0, leave: null };
    this.#visitors.set(socket, visitor);
    socket.once('close', () => visitor.leave?.());
    this.#wait(socket, visitor);
  }

  /** Returns false for a connection that pipelines too many requests; it is destroyed. */
  begin(socket: Socket): boolean {
    const visitor = this.#visitors.get(socket);
    if (!visitor) return true;
    if (socket.destroyed || visitor.requests >= limits.preview.pipelined) {
      socket.destroy();
      return false;
    }
    visitor.requests += 1;
    visitor.leave?.();
    visitor.leave = null;
    return true;
  }

  end(socket: Socket): void {
    const visitor = this.#visitors.get(socket);
    if (!visitor) return;
    visitor.requests -= 1;
    if (visitor.requests === 0 && !socket.destroyed) this.#wait(socket, visitor);
  }

  #wait(socket: Socket, visitor: Visitor): void {
    visitor.leave = this.#crowd.enter(networkOf(socket.remoteAddress ?? ''), () => socket.destroy());
    if (!visitor.leave) socket.destroy();
  }
}
