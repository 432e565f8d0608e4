/**
 * Writes JSON text in pieces of bounded size, made on demand: a large result neither fills memory with its whole text
 * nor holds up the event loop.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { loopShare } from '../../fairness/loop-share.ts';
import { limits } from '../../model/limits.ts';

interface Open {
  /** Null for a list. */
  keys: string[] | null;
  values: readonly unknown[] | Record<string, unknown>;
  length: number;
  next: number;
}

/** @param value Plain data, as JSON.stringify takes it. */
export function* jsonPieces(value: unknown): Generator<string> {
  const stack: Open[] = [];
  let text = '';
  let current: unknown = value;
  for (;;) {
    if (typeof current === 'string') {
      for (const part of quoted(current)) {
        text += part;
        if (text.length >= limits.answerPieceChars) {
          yield text;
          text = '';
        }
      }
    } else if (typeof current === 'object' && current !== null) {
      const open = opened(current);
      stack.push(open);
      text += open.keys ? '{' : '[';
    } else {
      text += JSON.stringify(current) ?? 'null';
    }
    let top = stack.at(-1);
    while (top && top.next === top.length) {
      text += top.keys ? '}' : ']';
      stack.pop();
      top = stack.at(-1);
    }
    if (!top) break;
    if (text.length >= limits.answerPieceChars) {
      yield text;
      text = '';
    }
    if (top.next > 0) text += ',';
    const key = top.keys?.[top.next];
    if (key !== undefined) text += `${JSON.stringify(key)}:`;
    current = (top.values as Record<string | number, unknown>)[key ?? top.next];
    top.next++;
  }
  yield text;
}

/** Returns true when the JSON of a value takes about `bytes` or more. Visits no more of it than that. */
export function isLargeJson(value: unknown, bytes: number = limits.largeAnswerBytes): boolean {
  const pending: unknown[] = [value];
  let seen = 0;
  while (pending.length > 0 && seen < bytes) {
    const next = pending.pop();
    seen += 8;
    if (typeof next === 'string') seen += next.length;
    else if (typeof next === 'object' && next !== null) {
      const values = Array.isArray(next) ? next : Object.values(next);
      if (values.length * 8 >= bytes) return true;
      pending.push(...values);
    }
  }
  return seen >= bytes;
}

function opened(value: object): Open {
  if (Array.isArray(value)) return { keys: null, values: value, length: value.length, next: 0 };
  const values = value as Record<string, unknown>;
  const keys = Object.keys(values).filter((key) => values[key] !== undefined);
  return { keys, values, length: keys.length, next: 0 };
}

function* quoted(text: string): Generator<string> {
  if (text.length <= limits.answerPieceChars) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let at = 0; at < text.length; ) {
    const end = at + limits.answerPieceChars;
    // Both halves of a surrogate pair stay together: each alone would be escaped.
    const isSplit = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const part = text.slice(at, isSplit ? end + 1 : end);
    yield JSON.stringify(part).slice(1, -1);
    at += part.length;
  }
  yield '"';
}

/**
 * Writes a large answer: each piece is made and written within this thread's share of a turn, answer after answer,
 * and as fast as the client reads. Rejects when the signal is aborted first.
 */
export async function writePieces(
  writable: Writable,
  pieces: Iterable<string | Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const rest = pieces[Symbol.iterator]();
  /** Returns true after the last piece. */
  const writeNext = (): boolean | Promise<boolean> => {
    signal.throwIfAborted();
    const next = rest.next();
    if (next.done) return true;
    // The listener is added at once: `drain` may come before any promise continues.
    return !writable.write(next.value) && once(writable, 'drain', { signal }).then(() => false);
  };
  while (!(await inTurn(writable, writeNext)));
}

function inTurn<T>(source: object, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    loopShare.run(source, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}
