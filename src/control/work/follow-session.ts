/**
 * Live output of a session's command: its log is followed while its caller waits. The log has both streams in one, so
 * all of it is shown as stdout. A failure to follow ends what is shown, and nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { concerns } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AgentSessions, FollowedBytes, LiveOutput } from '../ports/index.ts';

export interface ShownCommand {
  agent: Pick<AgentSessions, 'followSessionBytes'>;
  sandboxId: string;
  /** Of the sandbox's run. */
  generation: number;
  sessionId: string;
  commandId: string;
  live: LiveOutput;
  /** Signal of the caller. */
  signal?: AbortSignal | undefined;
}

/** Returns what `work`, which waits for the command, returns, once all output until then has been shown. */
export async function shownWhile<T extends { output: string }>(
  command: ShownCommand,
  work: Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const log = new FollowedLog(command);
  const following = log.follow(over.signal);
  const result = await work.finally(() => {
    over.abort();
    return following;
  });
  await log.rest(command.signal, result.output);
  return result;
}

class FollowedLog {
  readonly #command: ShownCommand;
  #offset = 0;
  #shownBytes = 0;
  /** Nothing more can come: the command has ended, or its log cannot be followed. */
  #over = false;
  #failed = false;

  constructor(command: ShownCommand) {
    this.#command = command;
  }

  async follow(signal: AbortSignal): Promise<void> {
    // Past the bound of those who do not want it whole the rest is counted once, at the end.
    const { whole } = this.#command.live;
    while (!this.#over && (whole || this.#shownBytes < limits.live.callBytes) && !signal.aborted) {
      await this.#take(limits.live.followMs, signal);
      // Neither a command that prints without a pause nor a hostile agent makes this a busy loop.
      await sleep(limits.live.followRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Shows what was printed since: of a log that could not be followed to its end, what the result has of it. */
  async rest(signal: AbortSignal | undefined, output: string): Promise<void> {
    if (!this.#over) await this.#take(0, signal);
    const { live } = this.#command;
    if (!this.#failed || !live.whole) return;
    await showPieces(live, [
      { stream: 'stdout', bytes: Buffer.from(output).subarray(this.#offset), leftOutBytes: 0 },
    ]);
  }

  async #take(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { agent, sandboxId, generation, sessionId, commandId } = this.#command;
    const request = { sessionId, commandId, generation, offset: this.#offset, waitMs };
    try {
      const { pieces, nextOffset, status } = await agent.followSessionBytes(sandboxId, request, signal);
      const bytes = nextOffset - this.#offset;
      this.#over = status === 'completed' || bytes < 0;
      this.#offset = nextOffset;
      await this.#show(pieces, bytes);
    } catch (error) {
      this.#failed = !signal?.aborted && !isYetToCome(error);
      this.#over ||= this.#failed;
    }
  }

  /** Shows it in short pieces; past the bound it is left out. */
  async #show(pieces: FollowedBytes['pieces'], bytes: number): Promise<void> {
    const { live } = this.#command;
    this.#shownBytes += bytes;
    if (live.whole || this.#shownBytes <= limits.live.callBytes) await showPieces(live, pieces);
    else if (bytes > 0) {
      await showPieces(live, [{ stream: 'stdout', bytes: Buffer.alloc(0), leftOutBytes: bytes }]);
    }
  }
}

export async function showPieces(live: LiveOutput, pieces: FollowedBytes['pieces']): Promise<void> {
  for (const { stream, bytes, leftOutBytes } of pieces) {
    if (bytes.length === 0 && leftOutBytes === 0) continue;
    for (let at = 0; at === 0 || at < bytes.length; at += limits.live.pieceBytes) {
      const piece = bytes.subarray(at, at + limits.live.pieceBytes);
      await live.show({ stream, bytes: piece, leftOutBytes: at === 0 ? leftOutBytes : 0 });
    }
  }
}

/** The request to follow may be faster than the one to run. */
function isYetToCome(error: unknown): boolean {
  return concerns(error, 'command');
}
