/**
 * Sends progress notifications of one call, only to a client that asked for them with a token. A silent call
 * still sends a heartbeat, so that a client's request timeout, which progress resets, does not end a long
 * command.
 */
import type { CallContext } from '../../catalog/base/tool.ts';
import type { LiveOutput, LivePiece } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { OutputText } from '../../model/output-text.ts';

export interface ProgressReporter {
  report: CallContext['progress'];
  /** Reports the last lines of a program's output; undefined for a client that did not ask. */
  live: CallContext['live'];
  /** Sends nothing afterwards. */
  end(): void;
}

/** A notification that the protocol calls `notifications/progress`. */
export interface ProgressNotification {
  method: 'notifications/progress';
  params: { progressToken: string | number; progress: number; message: string; total?: number };
}

/** @param progressToken Undefined for a client that did not ask. */
export function createProgressReporter(
  progressToken: string | number | undefined,
  notify: (notification: ProgressNotification) => void,
): ProgressReporter {
  if (progressToken === undefined) return { report: () => {}, live: undefined, end: () => {} };

  const begun = performance.now();
  let last = 0;
  let ended = false;
  const report: CallContext['progress'] = ({ message, done, total }) => {
    if (ended) return;
    heartbeat.refresh();
    // The protocol requires a number that only grows, across all phases of the work.
    const follows = done !== undefined && done > last;
    last = follows ? done : last + 1;
    const params = { progressToken, progress: last, message, ...(follows && total ? { total } : {}) };
    notify({ method: 'notifications/progress', params });
  };
  const heartbeat = setInterval(() => {
    report({ message: `Working for ${Math.round((performance.now() - begun) / 1000)} s.` });
  }, limits.mcpHeartbeatMs);
  const lines = new LastLines((message) => report({ message }));
  return {
    report,
    live: lines,
    end() {
      ended = true;
      lines.end();
      clearInterval(heartbeat);
    },
  };
}

/** The last lines of live output, passed on once in a while: a client shows them, and no client shows a flood. */
export class LastLines implements LiveOutput {
  readonly whole = false;
  readonly #pass: (lines: string) => void;
  readonly #decoded = new OutputText();
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(pass: (lines: string) => void) {
    this.#pass = pass;
  }

  show(piece: LivePiece): undefined {
    this.#text = lastOf(this.#text + this.#decoded.of(piece).text);
    this.#timer ??= setTimeout(this.#passOn, limits.live.mcpIntervalMs);
  }

  /** Passes nothing on afterwards. */
  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #passOn = (): void => {
    this.#timer = undefined;
    const lines = this.#text.trimEnd();
    if (lines !== '') this.#pass(lines);
  };
}

/** Keeps the last lines, and the open one after them. */
function lastOf(text: string): string {
  const lines = text.slice(-limits.live.mcpChars).split('\n');
  const open = lines.pop() ?? '';
  return [...lines.slice(-limits.live.mcpLines), open].join('\n').toWellFormed();
}
