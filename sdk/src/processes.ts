/** Processes of a sandbox that go on without their client: they are started, followed, written to, and ended. */
import { administer } from './administration.ts';
import type { Connection, RequestOptions } from './connection.ts';
import { foreignAnswer, fromProblem } from './errors.ts';
import type { ServerEvent } from './events.ts';
import { Output, type OutputEvent, type OutputListeners } from './output.ts';
import { readReconnecting } from './reconnecting.ts';

export interface ProcessOptions extends RequestOptions {
  /** Absolute, or relative to /workspace or the user's home. */
  cwd?: string;
  env?: Record<string, string>;
  /** Linux user; by default the sandbox's. */
  user?: string;
  /** Finds the process beside its pid; unique among those that run. */
  tag?: string;
  /** After this it is killed with all that it has started; 86,400 by default, which is the most. */
  timeoutSeconds?: number;
  /** Size of a terminal that it gets, with `rows`; all its output is then stdout. */
  cols?: number;
  rows?: number;
}

export interface ProcessFollowOptions extends OutputListeners {
  /** First byte, counted from 0 over both streams; by default the oldest that is kept. */
  from?: number;
  /** Leaves the process, which goes on; its reason is thrown. */
  signal?: AbortSignal;
}

export interface ProcessEnd {
  /** 128 plus its number after a signal. */
  exit_code: number;
  /** Such as SIGKILL; null where none ended it. */
  signal: string | null;
  timed_out: boolean;
}

export interface ProcessInfo {
  /** The pid, as the calls of a process take it. */
  process: string;
  pid: number;
  tag: string | null;
  command: string;
  status: 'running' | 'ended';
  started_at: string;
  ended_at: string | null;
  /** null while it runs. */
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  viewers: number;
  /** Bytes of output so far, of both streams. */
  output_bytes: number;
  /** Size of its terminal; null without one. */
  cols: number | null;
  rows: number | null;
}

export class Processes {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Starts a command of the shell, which goes on without its client. @param sandbox Name or ID. */
  async start(sandbox: string, command: string, options: ProcessOptions = {}): Promise<Process> {
    const { timeoutSeconds, signal, timeoutMs, ...rest } = options;
    const parameters = { sandbox, command, ...rest, timeout_seconds: timeoutSeconds };
    const call = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const started = await administer<ProcessInfo>(this.#connection, 'StartProcess', parameters, call);
    return this.get(sandbox, started.process);
  }

  /** Those that run, and those that ended last; oldest first. @param sandbox Name or ID. */
  async list(sandbox: string, options: RequestOptions = {}): Promise<ProcessInfo[]> {
    type Listed = { processes: ProcessInfo[] };
    return (await administer<Listed>(this.#connection, 'ListProcesses', { sandbox }, options)).processes;
  }

  /** A process that exists, by pid or tag; asks for nothing. @param sandbox Name or ID. */
  get(sandbox: string, process: string | number): Process {
    return new Process(this.#connection, sandbox, String(process));
  }
}

type OfOne<Call> = Call extends (sandbox: string, ...rest: infer Rest) => infer Value
  ? (...rest: Rest) => Value
  : never;

/** The processes of one sandbox: the methods of `Processes`, without the sandbox. */
export type SandboxProcesses = { [Name in 'start' | 'list' | 'get']: OfOne<Processes[Name]> };

export function processesOf(all: Processes, sandbox: string): SandboxProcesses {
  const { start, list, get } = all;
  return { start: start.bind(all, sandbox), list: list.bind(all, sandbox), get: get.bind(all, sandbox) };
}

/** One process. */
export class Process {
  /** Its pid; with `get`, the pid or tag that was given. */
  readonly id: string;
  /** null where a tag was given. */
  readonly pid: number | null;
  readonly #connection: Connection;
  readonly #sandbox: string;

  constructor(connection: Connection, sandbox: string, id: string) {
    this.id = id;
    // A tag begins with a letter.
    this.pid = /^\d+$/.test(id) ? Number(id) : null;
    this.#connection = connection;
    this.#sandbox = sandbox;
  }

  /**
   * Hands on its output until its end, which is the result; without listeners it waits for that. The process waits for
   * the slowest of those who follow it. A connection that breaks is made again, and goes on where it was.
   */
  async follow({ from = 0, signal, ...listeners }: ProcessFollowOptions = {}): Promise<ProcessEnd> {
    const output = new Output(listeners);
    const route = [this.#sandbox, 'processes', this.id].map(encodeURIComponent).join('/');
    let position = from;
    let leftOut = 0;
    const events = readReconnecting(this.#connection, {
      path: () => `/v1/sandboxes/${route}/output?from=${position}`,
      read: eventOf,
      maxRetries: this.#connection.maxRetries,
      signal,
    });
    for await (const event of events) {
      if ('from' in event) {
        leftOut += Math.max(event.from - position, 0);
        position = event.from;
      } else if ('stream' in event) {
        position += await output.take({ ...event, left_out_bytes: leftOut });
        leftOut = 0;
      } else {
        await output.end();
        return event;
      }
    }
    throw new Error('the events have ended');
  }

  /** Writes to its standard input, and waits until the program's pipe or terminal has taken all. */
  write(data: string | Uint8Array, options?: RequestOptions): Promise<void> {
    const isText = typeof data === 'string';
    const sent = isText ? { input: data } : { input: base64Of(data), encoding: 'base64' };
    return this.#administer('SendProcessInput', sent, options);
  }

  /** Ends its standard input. */
  closeInput(options?: RequestOptions): Promise<void> {
    return this.#administer('SendProcessInput', { input: '', close_input: true }, options);
  }

  /** @param name Such as 'TERM'. */
  signal(name: string, options?: RequestOptions): Promise<void> {
    return this.#administer('SignalProcess', { signal: name }, options);
  }

  /** Changes the size of its terminal. */
  resize(cols: number, rows: number, options?: RequestOptions): Promise<void> {
    return this.#administer('ResizeProcess', { cols, rows }, options);
  }

  /** Kills it with all that it has started, and forgets it; one that has ended is only forgotten. */
  end(options?: RequestOptions): Promise<void> {
    return this.#administer('EndProcess', {}, options);
  }

  async #administer(action: string, more: object, options: RequestOptions = {}): Promise<void> {
    const parameters = { sandbox: this.#sandbox, process: this.id, ...more };
    await administer(this.#connection, action, parameters, options);
  }
}

function eventOf({ event, data }: ServerEvent): { from: number } | OutputEvent | ProcessEnd | null {
  if (event === 'error') throw fromProblem(JSON.parse(data)) ?? foreignAnswer(200);
  return event === 'begin' || event === 'output' || event === 'result' ? JSON.parse(data) : null;
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
