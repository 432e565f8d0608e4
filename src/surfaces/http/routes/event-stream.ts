/** Streams a call as server-sent events: each `progress` and `output`, then one `result` or `error`. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext } from '../../../catalog/base/tool.ts';
import type { Display, LiveOutput, LivePiece } from '../../../control/ports/index.ts';
import type { Problem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { OutputText, type PieceOfText } from '../../../model/output-text.ts';
import { jsonPieces, writePieces } from '../../json/pieces.ts';
import { patient, readOn } from '../base/connections.ts';

export type Reporting = Pick<CallContext, 'progress' | 'live'>;

/** Makes what sends a program's output on the connection of an answer. */
export type OutputOn = (raw: FastifyReply['raw']) => OutputEvents;

export function wantsEventStream({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/event-stream') ?? false;
}

/**
 * @param call Receives the functions that report progress and output.
 * @param outputOn Chooses the form of output.
 * @param explain Builds the problem for the client.
 * @param signal Aborted when the client goes away.
 */
export async function streamCall(
  reply: FastifyReply,
  call: (reporting: Reporting) => Promise<unknown>,
  outputOn: OutputOn,
  explain: (error: unknown) => Problem,
  signal: AbortSignal,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  const output = outputOn(raw);
  patient.add(raw);
  const heartbeat = () => {
    if (!raw.writableNeedDrain) raw.write(': the call is in progress\n\n');
  };
  heartbeat();
  const timer = setInterval(heartbeat, limits.eventStreamHeartbeatMs);
  try {
    const progress: CallContext['progress'] = (update) => {
      // A client that does not read misses progress rather than filling memory.
      if (!raw.writableNeedDrain && !raw.writableEnded) raw.write(event('progress', update));
    };
    const result = await call({ progress, live: output });
    // A heartbeat between the pieces of the result would break its event.
    clearInterval(timer);
    patient.delete(raw);
    output.end();
    raw.write('event: result\ndata: ');
    await writePieces(raw, jsonPieces(result), signal);
    raw.write('\n\n');
  } catch (error) {
    raw.write(event('error', explain(error)));
  } finally {
    clearInterval(timer);
    patient.delete(raw);
    raw.end();
  }
}

/**
 * Live output as `output` events. What a slow client finds no room for on its connection is left out and counted, and
 * the next event of that stream says so. A client that asks for bytes gets all of them: its program waits for it.
 */
interface OutputEvents extends LiveOutput {
  display(shown: Display): void;
  /** Sends what is left, before the result. */
  end(): void;
}

export class OutputBytes implements OutputEvents {
  readonly whole = true;
  readonly #raw: ServerResponse;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  /** Names the position of the first byte. */
  begin(from: number): void {
    this.send('begin', { from });
  }

  display(shown: Display): void {
    this.send('display', shown);
  }

  show({ stream, bytes, leftOutBytes }: LivePiece): Promise<void> | undefined {
    return this.send('output', { stream, base64: bytes.toString('base64'), ...gap(leftOutBytes) });
  }

  /** Sends any other event. Resolves when the client has room for more; undefined: at once. */
  send(name: string, data: object): Promise<void> | undefined {
    if (this.#raw.writableEnded) return undefined;
    this.#raw.write(event(name, data));
    return readOn(this.#raw);
  }

  end(): void {}
}

export class OutputTexts implements OutputEvents {
  readonly whole = false;
  readonly #raw: ServerResponse;
  readonly #decoded = new OutputText();
  readonly #leftOutBytes: Record<LivePiece['stream'], number> = { stdout: 0, stderr: 0 };

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  show(piece: LivePiece): undefined {
    this.#send(piece.stream, this.#decoded.of(piece));
  }

  display(shown: Display): void {
    if (!this.#raw.writableEnded) this.#raw.write(event('display', shown));
  }

  /** Names what was left out last, too. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#send(stream, this.#decoded.restOf(stream));
      if (this.#leftOutBytes[stream] > 0) this.#write(stream, '');
    }
  }

  #send(stream: LivePiece['stream'], { text, leftOutBytes }: PieceOfText): void {
    this.#leftOutBytes[stream] += leftOutBytes;
    if (text === '') return;
    if (this.#raw.writableLength <= limits.live.heldBytes) this.#write(stream, text);
    else this.#leftOutBytes[stream] += Buffer.byteLength(text);
  }

  #write(stream: LivePiece['stream'], text: string): void {
    if (this.#raw.writableEnded) return;
    const leftOut = this.#leftOutBytes[stream];
    this.#leftOutBytes[stream] = 0;
    this.#raw.write(event('output', { stream, text, ...gap(leftOut) }));
  }
}

function gap(bytes: number): { left_out_bytes?: number } {
  return bytes > 0 ? { left_out_bytes: bytes } : {};
}

/** One server-sent event. */
function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
