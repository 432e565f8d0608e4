/** A connection that is none: it knows where it comes from, and whether somebody has ended it. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

class FakeSocket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

export function socketFrom(address: string): Socket {
  return new FakeSocket(address) as unknown as Socket;
}
