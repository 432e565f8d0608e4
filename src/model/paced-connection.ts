/**
 * A client's connection as a server of HTTP gets it: its bytes come in slices, within this thread's share for its
 * network. A body in pieces of one byte costs Node's parser a hundred times what its bytes do, and without this
 * every connection that has sent something is taken apart in the same turn of the loop.
 */
import type { Server, Socket } from 'node:net';
import { networkOf } from './address-network.ts';
import { PacedDuplex } from './paced-duplex.ts';

type Done = (error?: Error | null) => void;

export class PacedConnection extends PacedDuplex {
  /** What the bytes go over. */
  readonly transport: Socket;
  /** Those who read on after `destroySoon`. */
  #keepers = 0;

  constructor(transport: Socket) {
    super();
    this.transport = transport;
    this.takeFrom(transport, networkOf(transport.remoteAddress ?? ''));
    transport.on('timeout', () => this.emit('timeout'));
    transport.once('close', () => this.destroy(transport.errored ?? undefined));
  }

  get remoteAddress(): string | undefined {
    return this.transport.remoteAddress;
  }

  get encrypted(): boolean {
    return 'encrypted' in this.transport && this.transport.encrypted === true;
  }

  /** Those that wait here included. */
  get bytesWritten(): number {
    return this.transport.bytesWritten + this.writableLength;
  }

  setTimeout(ms: number, callback?: () => void): this {
    this.transport.setTimeout(ms);
    if (callback && ms > 0) this.once('timeout', callback);
    else if (callback) this.off('timeout', callback);
    return this;
  }

  setKeepAlive(enable: boolean, initialDelayMs: number): this {
    this.transport.setKeepAlive(enable, initialDelayMs);
    return this;
  }

  setNoDelay(noDelay: boolean): this {
    this.transport.setNoDelay(noDelay);
    return this;
  }

  /** For good. The client's system keeps what it still sends, and notices when it has no more room. */
  readNoMore(): void {
    this.takeNoMore();
    this.transport.pause();
  }

  /** Once all that was written is sent. */
  destroySoon(): void {
    if (this.writable) this.end();
    const sent = () => {
      if (this.#keepers === 0) this.destroy();
    };
    if (this.writableFinished) sent();
    else this.once('finish', sent);
  }

  /**
   * From now on `destroySoon` leaves it open for reading: who calls this destroys it.
   * @returns Ends that.
   */
  keep(): () => void {
    this.#keepers++;
    return () => {
      this.#keepers--;
    };
  }

  protected override arrived(slice: Buffer): void {
    this.pass(slice);
  }

  protected override ended(error: Error | null): void {
    if (error) this.destroy(error);
    else this.push(null);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.transport.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    const last = chunks.length - 1;
    this.transport.cork();
    for (const [at, { chunk }] of chunks.entries()) {
      if (at < last) this.transport.write(chunk);
      else this.transport.write(chunk, done);
    }
    this.transport.uncork();
  }

  override _final(done: Done): void {
    this.transport.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.takeNoMore();
    this.transport.destroy();
    done(error);
  }
}

/**
 * Has everything that listens for connections of this server by now get them paced.
 * @param event `secureConnection` where the server speaks TLS.
 */
export function paceConnections(server: Server, event: 'connection' | 'secureConnection'): void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) => {
    const paced = new PacedConnection(socket);
    for (const listener of listeners) listener.call(server, paced);
  });
}
