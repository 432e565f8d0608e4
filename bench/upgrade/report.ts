/** The figures of a replacement: which calls failed, and when. All times here are seconds since SIGTERM. */
import type { Replacement } from './installation.ts';
import type { Outcome } from './kept.ts';
import type { Call, Retries } from './load.ts';

export interface Figures {
  /** End of the older process, and the first good answer after it. */
  ended: number;
  answered: number;
  /** The longest time without a good answer, from its beginning to its end. */
  silence: [number, number];
  counts: Record<Retries, Counts>;
  /** Failures of 100 ms each, by the beginning of these. */
  buckets: Bucket[];
  /** Failed before SIGTERM, or begun after the first good answer. */
  outside: string[];
}

export interface Counts {
  before: number;
  restart: number;
  after: number;
  failed: number;
  /** Slowest good call that the restart has touched, in seconds. */
  slowest: number;
}

export interface Bucket {
  from: number;
  failed: Record<Retries, number>;
  /** How often each reason was given. */
  reasons: Map<string, number>;
}

const BUCKET_SECONDS = 0.1;

/** Throws when the newer service gave no good answer. */
export function figuresOf(calls: readonly Call[], { terminated, ended }: Replacement): Figures {
  const since = (time: number) => (time - terminated) / 1_000;
  const good = calls.filter(({ failure }) => failure === null).map((call) => since(call.ended));
  const processEnded = since(ended);
  const answered = good.find((time) => time >= processEnded) ?? Number.NaN;
  if (Number.isNaN(answered)) throw new Error('no call succeeded after the replacement');
  const failed = calls.filter(({ failure }) => failure !== null);
  const outside = failed.filter((call) => since(call.ended) < 0 || since(call.begun) > answered);
  return {
    ...{ ended: processEnded, answered, silence: longestGap(good) },
    counts: { none: countsOf('none'), default: countsOf('default') },
    buckets: bucketsOf(failed.map((call) => ({ ...call, at: since(call.ended) }))),
    outside: outside.map((call) => `${call.tool} at ${since(call.ended).toFixed(2)} s: ${call.failure}`),
  };

  function countsOf(retries: Retries): Counts {
    const own = calls.filter((call) => call.retries === retries);
    const before = own.filter((call) => since(call.ended) < 0);
    const after = own.filter((call) => since(call.begun) > answered);
    const touched = own.filter((call) => !before.includes(call) && !after.includes(call));
    const times = touched.filter(({ failure }) => failure === null).map((call) => call.ended - call.begun);
    return {
      ...{ before: before.length, restart: touched.length, after: after.length },
      failed: own.filter(({ failure }) => failure !== null).length,
      slowest: Math.max(0, ...times) / 1_000,
    };
  }
}

function longestGap(times: readonly number[]): [number, number] {
  let longest: [number, number] = [0, 0];
  times.slice(1).forEach((time, at) => {
    const before = times[at] ?? time;
    if (time - before > longest[1] - longest[0]) longest = [before, time];
  });
  return longest;
}

function bucketsOf(failed: readonly (Call & { at: number })[]): Bucket[] {
  const buckets = new Map<number, Bucket>();
  for (const { at, retries, failure } of failed) {
    const number = Math.floor(at / BUCKET_SECONDS);
    const bucket = buckets.get(number) ?? {
      from: (number * 100) / 1_000,
      failed: { none: 0, default: 0 },
      reasons: new Map(),
    };
    bucket.failed[retries] += 1;
    bucket.reasons.set(failure ?? '', (bucket.reasons.get(failure ?? '') ?? 0) + 1);
    buckets.set(number, bucket);
  }
  return [...buckets.values()].toSorted((a, b) => a.from - b.from);
}

/** @param terminated Time of SIGTERM, by performance.now(). */
export function render(figures: Figures, outcome: Outcome, terminated: number): string {
  const { ended, answered, silence, counts, buckets, outside } = figures;
  const seconds = (time: number) => `${time.toFixed(2)} s`;
  const { sandboxes: count, longCall } = outcome;
  return [
    `SIGTERM to the end of the older process: ${seconds(ended)}; to the first good answer of the newer: ${seconds(answered)}`,
    `longest time without a good answer: ${seconds(silence[1] - silence[0])}, from ${seconds(silence[0])} to ${seconds(silence[1])}`,
    `calls without retries:   ${countsText(counts.none)}`,
    `calls with the default:  ${countsText(counts.default)}`,
    `failed outside of SIGTERM to that answer: ${outside.length}`,
    ...outside.map((line) => `  ${line}`),
    ...(buckets.length === 0 ? [] : ['failed by the second, without retries and with:']),
    ...buckets.map(bucketText),
    `programs that go on: ${outcome.programs} of ${count}, with a longest pause of ${seconds(outcome.longestPauseSeconds)}`,
    `sessions with their state: ${outcome.sessions} of ${count}; session commands that go on: ${outcome.sessionCommands} of ${count}`,
    `files as they were: ${outcome.files} of ${count}; files of the load as acknowledged: ${outcome.written} of ${outcome.loadFiles}`,
    ...(longCall === null
      ? []
      : [
          `the call in progress: ${longCall.failure ?? 'succeeded'} after ${seconds((longCall.ended - terminated) / 1_000)}; its program ${outcome.longProgram ? 'goes on' : 'has ended'}`,
        ]),
  ].join('\n');
}

function countsText({ before, restart, after, failed, slowest }: Counts): string {
  return `${before} before, ${restart} in the restart, ${after} after; ${failed} failed; slowest good one in the restart ${slowest.toFixed(2)} s`;
}

function bucketText({ from, failed, reasons }: Bucket): string {
  const listed = [...reasons]
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, times]) => `${times} ${reason}`);
  return `  ${from.toFixed(1).padStart(4)} s  ${String(failed.none).padStart(3)}  ${String(failed.default).padStart(3)}  ${listed.join(', ')}`;
}
