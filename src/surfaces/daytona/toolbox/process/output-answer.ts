/**
 * Output of a program in a JSON answer, `{"result":"…"` and then what is known at its end. It is sent while the program
 * runs, as fast as the client reads, so that no amount of it is held or cut. A little of it is held back: until there is more,
 * or the end, the answer may still become an error.
 */
import type { FastifyReply } from 'fastify';
import type { LiveOutput, LivePiece } from '../../../../control/ports/index.ts';
import { SandhavenError, toProblem } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { OutputText, type PieceOfText } from '../../../../model/output-text.ts';
import { patient, readOn } from '../../../http/base/connections.ts';
import { sendJson } from '../../../http/routes/send.ts';
import { jsonPieces, writePieces } from '../../../json/pieces.ts';
import type { DaytonaCall } from '../../base/call.ts';

type Result = Record<string, unknown>;

/**
 * @param run Calls a tool that runs a program.
 * @param more Returns what else its result has for the client.
 */
export async function answerOutput(
  call: DaytonaCall,
  run: (live: LiveOutput) => Promise<Result>,
  more: (result: Result) => object = () => ({}),
): Promise<unknown> {
  const answer = new OutputAnswer(call.reply, call.signal);
  try {
    const result = await run(answer);
    if (result['timed_out'] && !answer.isBegun) throw timedOut();
    return await answer.end(String(result['output']), { exitCode: result['exit_code'], ...more(result) });
  } catch (error) {
    if (!answer.isBegun) throw error;
    call.request.outcome = toProblem(error, call.request.id).code;
    answer.breakOff();
    return call.reply;
  }
}

class OutputAnswer implements LiveOutput {
  readonly whole = true;
  readonly #reply: FastifyReply;
  readonly #signal: AbortSignal;
  readonly #text = new OutputText();
  #held = '';
  #isShown = false;
  #isBegun = false;

  constructor(reply: FastifyReply, signal: AbortSignal) {
    this.#reply = reply;
    this.#signal = signal;
  }

  /** true: the client has a part of the answer. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  show(piece: LivePiece): Promise<void> | undefined {
    this.#isShown = true;
    this.#add(this.#text.of(piece));
    return this.#isBegun ? readOn(this.#reply.raw) : undefined;
  }

  /** @param output What the result has of the output, for a sandbox whose agent shows none before. */
  async end(output: string, rest: object): Promise<unknown> {
    for (const stream of ['stdout', 'stderr'] as const) this.#add(this.#text.restOf(stream));
    if (!this.#isBegun) {
      return sendJson(this.#reply, { result: this.#isShown ? this.#held : output, ...rest }, this.#signal);
    }
    const { raw } = this.#reply;
    patient.delete(raw);
    raw.write('",');
    await writePieces(raw, withoutBrace(jsonPieces(rest)), this.#signal);
    raw.end();
    return this.#reply;
  }

  /** Shows the client that the answer is not whole. */
  breakOff(): void {
    this.#reply.raw.destroy();
  }

  #add({ text, leftOutBytes }: PieceOfText): void {
    const shown = leftOutBytes > 0 ? `\n[… ${leftOutBytes} bytes left out …]\n${text}` : text;
    if (this.#isBegun) {
      this.#reply.raw.write(quoted(shown));
      return;
    }
    this.#held += shown;
    if (this.#held.length > limits.outputBytes) this.#begin();
  }

  #begin(): void {
    this.#isBegun = true;
    this.#reply.hijack();
    const { raw } = this.#reply;
    raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    patient.add(raw);
    raw.write(`{"result":"${quoted(this.#held)}`);
    this.#held = '';
  }
}

/** No piece ends in half of a surrogate pair: each is whole characters of UTF-8. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function* withoutBrace(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst ? piece.slice(1) : piece;
    isFirst = false;
  }
}

function timedOut(): SandhavenError {
  return new SandhavenError('timeout', 'The program ran over its time and was killed.', {
    hint: 'Give a longer timeout, or run it in a session.',
  });
}
