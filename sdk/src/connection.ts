/** Connects to the service: its address and key, and one request within the caller's time. */
import { SandhavenError, unreachable } from './errors.ts';

export interface SandhavenOptions {
  /** Defaults to SANDBOX_API_KEY. null sends none, for a proxy that adds it. */
  apiKey?: string | null;
  /** Defaults to SANDBOX_API_URL, else http://127.0.0.1:7420. An empty one is the page's own origin. */
  url?: string | URL;
  /** Most retries of a transient failure, where they are safe; 2 by default. */
  maxRetries?: number;
  /** Time limit of a call in milliseconds; none by default. */
  timeoutMs?: number;
  /** Sent with every request, as a page's sign-in needs. The client's own headers replace those of the same name. */
  headers?: Readonly<Record<string, string>>;
  /** Team to act for, by name or id; the calls work with what this team owns. */
  team?: string;
  /** Replaces the global one. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Ends the call; its reason is thrown. */
  signal?: AbortSignal;
  /** Time limit of the call, all retries together. */
  timeoutMs?: number;
}

const DEFAULT_URL = 'http://127.0.0.1:7420';
const DEFAULT_RETRIES = 2;

export class Connection {
  readonly maxRetries: number;
  /** Without a slash at its end. */
  readonly url: string;
  readonly #apiKey: string | null;
  readonly #timeoutMs: number | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor(options: SandhavenOptions) {
    const apiKey = options.apiKey === undefined ? environment('SANDBOX_API_KEY') : options.apiKey;
    if (apiKey === undefined || apiKey === '') {
      throw new SandhavenError({
        code: 'unauthenticated',
        status: 0,
        detail: 'There is no API key.',
        hint: 'Give apiKey, or set SANDBOX_API_KEY.',
        retryable: false,
      });
    }
    this.#apiKey = apiKey;
    this.url = String(options.url ?? environment('SANDBOX_API_URL') ?? DEFAULT_URL).replace(/\/+$/, '');
    this.#timeoutMs = options.timeoutMs;
    const { team, headers = {} } = options;
    this.#headers = team === undefined ? headers : { ...headers, 'Sandhaven-Team': team };
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.maxRetries = options.maxRetries ?? DEFAULT_RETRIES;
  }

  /** Starts the clock of one call, all attempts included. The result must be closed. */
  begin(options: RequestOptions): Attempts {
    return new Attempts(options.signal, options.timeoutMs ?? this.#timeoutMs);
  }

  /** Rejects with SandhavenError without a response; with the signal's reason after an abort. */
  async request(path: string, init: RequestInit, attempts: Attempts): Promise<Response> {
    const headers = new Headers(this.#headers);
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    if (this.#apiKey !== null) headers.set('authorization', `Bearer ${this.#apiKey}`);
    try {
      // A redirect would take the key along.
      const options = { ...init, headers, redirect: 'error' as const, signal: attempts.signal };
      return await this.#fetch(this.url + path, options);
    } catch (error) {
      throw this.explain(error, attempts);
    }
  }

  /** Converts a transport failure to the caller's error. */
  explain(error: unknown, attempts: Attempts): unknown {
    if (attempts.signal.aborted) return attempts.signal.reason;
    return error instanceof SandhavenError ? error : unreachable(this.url, error);
  }
}

/** Clock of one call with all its attempts: ends at the caller's signal or the call's own deadline. */
export class Attempts {
  readonly #own = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #forward = () => this.#own.abort(this.#given?.reason);

  constructor(given: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#given = given;
    if (given?.aborted) this.#forward();
    given?.addEventListener('abort', this.#forward, { once: true });
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => this.#own.abort(timedOut(timeoutMs)), timeoutMs);
    }
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Rejects with the signal's reason when the call ends first. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        reject(this.signal.reason);
      };
      const timer = setTimeout(() => {
        this.signal.removeEventListener('abort', end);
        resolve();
      }, ms);
      if (this.signal.aborted) end();
      else this.signal.addEventListener('abort', end, { once: true });
    });
  }

  /** The caller's signal still counts afterwards. */
  stopClock(): void {
    clearTimeout(this.#timer);
  }

  close(): void {
    this.stopClock();
    this.#given?.removeEventListener('abort', this.#forward);
  }
}

function timedOut(timeoutMs: number): SandhavenError {
  return new SandhavenError({
    code: 'timeout',
    status: 0,
    detail: `The call was given up after ${timeoutMs} ms.`,
    hint: 'Give a larger timeoutMs. A lifecycle operation goes on without its caller.',
    retryable: false,
  });
}

/** Reads Node's environment; undefined in browsers. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
