/**
 * Live output of a session's command: its log is followed while its caller waits. The log has both streams in one, so
 * all of it is shown as stdout. A failure to follow ends what is shown, and nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AgentSessions, LiveOutput } from '../ports/index.ts';

export interface ShownCommand {
  agent: Pick<AgentSessions, 'followSessionCommand'>;
  sandboxId: string;
  sessionId: string;
  commandId: string;
  live: LiveOutput;
  /** Signal of the caller. */
  signal?: AbortSignal | undefined;
}

/** Returns what `work`, which waits for the command, returns, once all output until then has been shown. */
export async function shownWhile<T>(command: ShownCommand, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const log = new FollowedLog(command);
  const following = log.follow(over.signal);
  const result = await work.finally(() => {
    over.abort();
    return following;
  });
  await log.rest(command.signal);
  return result;
}

class FollowedLog {
  readonly #command: ShownCommand;
  #offset = 0;
  #shownBytes = 0;
  /** Nothing more can come: the command has ended, or its log cannot be followed. */
  #over = false;

  constructor(command: ShownCommand) {
    this.#command = command;
  }

  async follow(signal: AbortSignal): Promise<void> {
    // Past the bound the rest is counted once, at the end.
    while (!this.#over && this.#shownBytes < limits.live.callBytes && !signal.aborted) {
      await this.#take(limits.live.followMs, signal);
      // Neither a command that prints without a pause nor a hostile agent makes this a busy loop.
      await sleep(limits.live.followRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Shows what was printed since. */
  async rest(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#over) await this.#take(0, signal);
  }

  async #take(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { agent, sandboxId, sessionId, commandId } = this.#command;
    const request = { sessionId, commandId, offset: this.#offset, waitMs };
    try {
      const { output, nextOffset, truncated, status } = await agent.followSessionCommand(
        sandboxId,
        request,
        signal,
      );
      this.#over = status === 'completed' || nextOffset < this.#offset;
      this.#show(output, nextOffset - this.#offset, truncated);
      this.#offset = nextOffset;
    } catch (error) {
      this.#over ||= !signal?.aborted && !isYetToCome(error);
    }
  }

  /** Leaves out what is past the bound, and what has lost its middle: a marker in it would pass for output. */
  #show(output: string, bytes: number, truncated: boolean): void {
    const { live } = this.#command;
    this.#shownBytes += Buffer.byteLength(output);
    if (truncated || this.#shownBytes > limits.live.callBytes) {
      if (bytes > 0) live({ stream: 'stdout', text: '', leftOutBytes: bytes });
      return;
    }
    for (const text of piecesOf(output)) live({ stream: 'stdout', text, leftOutBytes: 0 });
  }
}

/** The request to follow may be faster than the one to run. */
function isYetToCome(error: unknown): boolean {
  return error instanceof SandhavenError && error.fields.resource === 'command';
}

/** Cuts a text into short pieces, never within a character. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + limits.live.pieceBytes;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
