/** Types of the part of `ws` that the surfaces use. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { ClientRequest, IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export interface CommonOptions {
    perMessageDeflate: false;
    /** Bytes of one message; a larger one closes the connection with 1009. */
    maxPayload: number;
    maxFragments?: number;
    maxBufferedChunks?: number;
    /** Time for the other side to answer a close. */
    closeTimeout?: number;
  }

  export interface ClientOptions extends CommonOptions {
    headers: Record<string, string>;
    handshakeTimeout: number;
    followRedirects?: false;
  }

  export class WebSocket extends EventEmitter {
    static readonly OPEN: 1;
    constructor(address: URL | string, options: ClientOptions);
    constructor(address: URL | string, protocols: string[], options: ClientOptions);
    /** Subprotocol that the server has chosen. */
    readonly protocol: string;
    readonly readyState: 0 | 1 | 2 | 3;
    /** Bytes that the system has not taken yet. */
    readonly bufferedAmount: number;
    readonly isPaused: boolean;
    send(data: Buffer | string, options: { binary: boolean }, sent?: (error?: Error) => void): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code: number, reason?: string): void;
    terminate(): void;
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'close', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'open' | 'ping' | 'pong', listener: () => void): this;
    on(
      event: 'unexpected-response',
      listener: (request: ClientRequest, response: IncomingMessage) => void,
    ): this;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(
      options: CommonOptions & {
        noServer: true;
        clientTracking: false;
        /** Chooses one of the offered subprotocols. */
        handleProtocols?: (offered: ReadonlySet<string>) => string;
      },
    );
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      early: Buffer,
      done: (socket: WebSocket) => void,
    ): void;
    on(event: 'headers', listener: (headers: string[], request: IncomingMessage) => void): this;
  }
}
