/**
 * The well-behaved user: a few small calls, one after another, for as long as somebody watches. What each call takes
 * is what the attacks of others cost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../support/people.ts';
import { call } from '../support/service.ts';

const PAUSE_MS = 50;

export interface Observation {
  calls: number;
  /** Answers other than 200, by status and detail. */
  failures: string[];
  p50Ms: number;
  p99Ms: number;
  slowestMs: number;
  /** The tool of the slowest call. */
  slowest: string;
  /** Of all calls. */
  taken: readonly Taken[];
}

interface Taken {
  tool: string;
  ms: number;
}

/** One call of each of these in turn. */
const calls: [tool: string, parameters: Record<string, unknown>][] = [
  ['RunCommand', { command: 'true' }],
  ['WriteFile', { path: 'note.txt', content: 'a line\n' }],
  ['GetSandbox', {}],
  ['ReadFile', { path: 'note.txt' }],
  ['ListFiles', {}],
];

/** Works in a sandbox of its own until the signal is aborted. */
export async function observe(user: Person, sandbox: string, signal: AbortSignal): Promise<Observation> {
  const taken: Taken[] = [];
  const failures: string[] = [];
  for (let turn = 0; !signal.aborted; turn++) {
    const [tool, parameters] = calls[turn % calls.length] as (typeof calls)[number];
    const begun = performance.now();
    const failure = await failureOf(user, tool, { sandbox, ...parameters });
    taken.push({ tool, ms: performance.now() - begun });
    if (failure !== null) failures.push(`${tool}: ${failure}`);
    await sleep(PAUSE_MS);
  }
  return { failures, ...summarize(taken) };
}

async function failureOf(
  user: Person,
  tool: string,
  parameters: Record<string, unknown>,
): Promise<string | null> {
  try {
    const { status, body } = await call(user, tool, parameters);
    return status === 200 ? null : `${status} ${String(body['detail'])}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
}

/** Of two samples, what one of both would have shown. */
export function joined(one: Observation, other: Observation): Observation {
  const failures = [...one.failures, ...other.failures];
  return { failures, ...summarize([...one.taken, ...other.taken]) };
}

function summarize(taken: readonly Taken[]) {
  const sorted = taken.toSorted((a, b) => a.ms - b.ms);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]?.ms ?? 0;
  return {
    calls: taken.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    slowestMs: at(1),
    slowest: sorted.at(-1)?.tool ?? '',
    taken,
  };
}
