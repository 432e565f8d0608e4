/**
 * The exchange of one plain call: an event stream with the call's progress and its result, which is made into bytes once. A
 * client that goes away ends it, as a cancellation does.
 */
import type { ServerResponse } from 'node:http';
import { type CallToolResult, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { limits } from '../../model/limits.ts';
import { isLargeJson, jsonPieces, writePieces } from '../json/pieces.ts';
import type { PlainCall } from './plain-call.ts';
import { createProgressReporter } from './progress.ts';
import { toCallToolResult } from './result.ts';
import { type CarryOut, serverInfo } from './server.ts';

/** As the SDK sends them. */
const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};

export class CallExchange {
  readonly #call: PlainCall;
  readonly #response: ServerResponse;
  /** Aborted when the client has left, or the exchange is closed. */
  readonly #end = new AbortController();

  constructor(call: PlainCall, response: ServerResponse) {
    this.#call = call;
    this.#response = response;
  }

  /** Resolves when the answer is sent, or never will be. */
  async run(carryOut: CarryOut, version: string, clientLeft: AbortSignal): Promise<void> {
    if (clientLeft.aborted) this.#end.abort();
    clientLeft.addEventListener('abort', () => this.#end.abort(), { once: true });
    const { tool, parameters, progressToken } = this.#call;
    const progress = createProgressReporter(progressToken, (notification) => {
      this.#write(event({ jsonrpc: '2.0', ...notification }));
    });
    // Keeps the connection of a silent call alive, for clients that asked for no progress too.
    const keepAlive = setInterval(() => this.#write(': keepalive\n\n'), limits.mcpKeepAliveMs);
    const { signal } = this.#end;
    const { report, live } = progress;
    // Nothing may come between the pieces of the answer.
    const outcome = await carryOut(tool, parameters, { signal, progress: report, live }).finally(() => {
      progress.end();
      clearInterval(keepAlive);
    });
    if (!this.#isOver) await this.#answer(toCallToolResult(tool, outcome), version);
  }

  /** Aborts the call and ends the stream without an answer, as the protocol requires of a cancellation. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#end.abort();
    this.#begin();
    this.#response.end();
  }

  async #answer(given: CallToolResult, version: string): Promise<void> {
    const { structuredContent, content, isError } = given;
    const shared = { content, structuredContent, ...(isError ? { isError } : {}) };
    const result =
      this.#call.era === 'legacy'
        ? shared
        : { ...shared, resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: serverInfo(version) } };
    const message = { result, jsonrpc: '2.0', id: this.#call.id };
    this.#begin();
    if (!isLargeJson(message)) {
      this.#response.end(event(message));
      return;
    }
    try {
      await writePieces(this.#response, eventPieces(message), this.#end.signal);
      this.#response.end();
    } catch {
      // The status is sent: only a broken connection can show the client an incomplete body.
      this.#response.destroy();
    }
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || this.#response.destroyed || this.#response.writableEnded;
  }

  #begin(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, STREAM_HEADERS);
  }

  #write(text: string): void {
    if (this.#isOver) return;
    this.#begin();
    this.#response.write(text);
  }
}

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function* eventPieces(message: object): Generator<string> {
  yield 'event: message\ndata: ';
  yield* jsonPieces(message);
  yield '\n\n';
}
