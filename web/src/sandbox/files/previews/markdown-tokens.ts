/**
 * Tokens of Markdown out of a sandbox. Its parser's time can grow with the square of the length, so it runs in a worker, one
 * text after the other, and each has a bounded time.
 */
import type { Token } from 'marked';

const MOST_CHARACTERS = 512 * 1024;
const MOST_MS = 2_000;

let worker: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Resolves to null for a text that is too long, too deep, or takes too long; or when the signal has ended the wait. */
export function markdownTokens(text: string, signal: AbortSignal): Promise<Token[] | null> {
  if (text.length > MOST_CHARACTERS) return Promise.resolve(null);
  const parsed = last.then(() => (signal.aborted ? null : parse(text, signal)));
  last = parsed;
  return parsed;
}

function parse(text: string, signal: AbortSignal): Promise<Token[] | null> {
  worker ??= new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  const used = worker;
  return new Promise((resolve) => {
    const settle = (tokens: Token[] | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      used.onmessage = used.onerror = used.onmessageerror = null;
      resolve(tokens);
    };
    const giveUp = () => {
      used.terminate();
      worker = null;
      settle(null);
    };
    const timer = setTimeout(giveUp, MOST_MS);
    signal.addEventListener('abort', giveUp);
    used.onmessage = ({ data }: MessageEvent<Token[] | null>) => settle(data);
    used.onerror = used.onmessageerror = giveUp;
    used.postMessage(text);
  });
}
