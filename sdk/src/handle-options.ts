/** Options of a handle's method: the tool's parameters that are not given by position, and options of the call, in one object. */
import type { CallOptions } from './call.ts';
import type { RequestOptions } from './connection.ts';

export type HandleOptions<Parameters, Named extends keyof Parameters> = Omit<Parameters, Named> & CallOptions;

/** No tool has a parameter of such a name: theirs are in snake case. */
const optionNames = Object.keys({
  signal: 0,
  timeoutMs: 0,
  onProgress: 0,
  onDisplay: 0,
  maxRetries: 0,
  idempotencyKey: 0,
  onOutput: 0,
  onStdout: 0,
  onStderr: 0,
} satisfies Record<keyof CallOptions, 0>);

/** Divides them into the parameters and the options of the call. */
export function apart<Parameters extends object>(
  options: Parameters & CallOptions,
): [Parameters, CallOptions] {
  const entries = Object.entries(options);
  const isOption = ([name]: [string, unknown]) => optionNames.includes(name);
  return [
    Object.fromEntries(entries.filter((entry) => !isOption(entry))) as Parameters,
    Object.fromEntries(entries.filter(isOption)) as CallOptions,
  ];
}

/** When the service stops or deletes a sandbox, or puts it to sleep, as it is now. */
export interface Deadline {
  /** Sandbox ID. */
  sandbox: string;
  /** null: none. */
  deadline_at: string | null;
  deadline_action: 'stop' | 'delete' | 'sleep' | null;
}

export interface DeadlineOptions extends RequestOptions {
  /** From now, at most 30 days; 0 removes the deadline. */
  seconds: number;
  /** Without it, what it was, else a stop. */
  action?: 'stop' | 'delete' | 'sleep';
}

/** Sleep of a sandbox, as it is now. */
export interface Sleep {
  /** Sandbox ID. */
  sandbox: string;
  /** null: it is awake. */
  asleep_since: string | null;
  /** null: as the operator has it; 0: never. */
  sleep_after_seconds: number | null;
  /** true: a use starts it when it is stopped. */
  wake: boolean;
}

/** Use of a sandbox in its last hour. */
export interface UsageHistory {
  /** Sandbox ID. */
  sandbox: string;
  step_seconds: number;
  /** Oldest first; null: not known. */
  samples: {
    at: string;
    /** Processors in use on average since the sample before. */
    cores: number | null;
    memory_bytes: number | null;
    disk_bytes: number | null;
  }[];
  /** Processes that were killed for want of memory; of the last one its name, where the kernel gives it. */
  out_of_memory: { at: string; killed: number; process: string | null }[];
}

export interface SleepOptions extends RequestOptions {
  /** Seconds without activity, at most 30 days; 0: never. */
  afterSeconds?: number;
  wake?: boolean;
}
