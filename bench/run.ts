/**
 * `make bench`: measures Sandhaven beside a Docker engine on the same machine with the same root file system, in
 * one run.
 *
 * bench/run.ts [--only SCENARIO]… [--quick]
 * bench/run.ts --only thousand [--count N]
 *
 * Prints a table and writes every sample to bench/results/. Ctrl-C ends it after the current turn.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Docker, startDocker } from './base/docker.ts';
import type { Samples } from './base/interleave.ts';
import { baseImage, home, type MachineFacts, machineFacts } from './base/machine.ts';
import { startSandhaven } from './base/sandhaven.ts';
import type { Bench } from './base/scenario.ts';
import { summarize } from './base/statistics.ts';
import { renderTables, toRows } from './base/table.ts';
import { BY_NAME, scenarios } from './scenarios/index.ts';

const QUICK_SHARE = 1 / 5;
const WARM_UPS = 2;
const MAX_COUNT = 5_000;

interface Options {
  only: string[];
  quick: boolean;
  /** Sandboxes of `thousand`. */
  count: number;
}

interface Results {
  samples: Samples;
  details: Record<string, unknown>;
  notes: string[];
}

async function main(options: Options): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interruption.abort(new Error(`ended by ${signal}`)));
  }
  await using cleanup = new AsyncDisposableStack();
  // Not /tmp, which is memory on some machines.
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const image = await baseImage();
  say('starting a Docker engine and importing the base image');
  const docker = cleanup.use(await startDocker(join(folder, 'docker'), image));
  interruption.signal.throwIfAborted();
  say('starting the service');
  const sandhaven = cleanup.use(await startSandhaven(join(folder, 'data'), 0));
  const bench = toBench(docker, sandhaven, folder, options, interruption.signal);
  const facts = await machineFacts(docker, image);
  const results = await measure(bench, options.only);
  process.stdout.write(`\n${report(facts, results)}\n`);
  say(`every sample: ${await writeResults(facts, results, options)}`);
}

function toBench(
  docker: Docker,
  sandhaven: Bench['sandhaven'],
  folder: string,
  { quick, count }: Options,
  signal: AbortSignal,
): Bench {
  let services = 0;
  return {
    docker,
    sandhaven,
    startAnother: (warmPool, flags) => startSandhaven(join(folder, `data-${++services}`), warmPool, flags),
    folder,
    signal,
    quick,
    count,
    rounds: (counted, pauseMs = 0) => ({
      counted: quick ? Math.ceil(counted * QUICK_SHARE) : counted,
      warmUps: WARM_UPS,
      pauseMs,
      signal,
    }),
  };
}

async function measure(bench: Bench, names: string[]): Promise<Results> {
  const results: Results = { samples: {}, details: {}, notes: [] };
  for (const name of names) {
    const start = performance.now();
    const outcome = await scenarios[name]?.(bench);
    Object.assign(results.samples, outcome?.samples);
    if (outcome?.details) results.details[name] = outcome.details;
    results.notes.push(...(outcome?.notes ?? []));
    say(`${name}: measured in ${Math.round((performance.now() - start) / 1_000)} s`);
  }
  return results;
}

function report(facts: MachineFacts, { samples, notes }: Results): string {
  const { kernel, cores, memory_bytes, cgroup_version, docker, runc, load_average } = facts;
  const rows = toRows(samples);
  const table = [
    renderTables(rows),
    '',
    'ratio: Sandhaven to the column left of it. Docker API: the same engine by its socket, without the command line.',
  ];
  return [
    ...(rows.length > 0 ? table : []),
    ...notes,
    `${cores} cores, ${Math.round(memory_bytes / 1e9)} GB, Linux ${kernel}, cgroup v${cgroup_version}, ${runc}, ` +
      `Docker ${docker.engine}; load at the start ${load_average[0]?.toFixed(2)}.`,
  ].join('\n');
}

async function writeResults(facts: MachineFacts, results: Results, options: Options): Promise<string> {
  const folder = join(home, 'bench/results');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${facts.date.replaceAll(/[:.]/g, '-')}.json`);
  const measured = toRows(results.samples).map(({ id, metric, ratio, ratioMet, boundMet }) => ({
    id,
    ...metric,
    ratio,
    ratio_met: ratioMet,
    bound_met: boundMet,
    sides: Object.fromEntries(
      Object.entries(results.samples[id] ?? {}).map(([side, samples]) => [
        side,
        { ...summarize(samples), samples },
      ]),
    ),
  }));
  const content = {
    machine: facts,
    options,
    metrics: measured,
    details: results.details,
    notes: results.notes,
  };
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
  return file;
}

function parseOptions(argv: string[]): Options {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      count: { type: 'string', default: '1000' },
    },
  });
  const unknown = values.only?.find((name) => !(name in scenarios));
  if (unknown) throw new Error(`No scenario '${unknown}': there are ${Object.keys(scenarios).join(', ')}.`);
  const count = Number(values.count);
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
    throw new Error(`--count is a number from 1 to ${MAX_COUNT}.`);
  const usual = Object.keys(scenarios).filter((name) => name !== BY_NAME);
  return { only: values.only ?? usual, quick: values.quick, count };
}

function say(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

/** Lists a failure and every failed cleanup after it. */
function causes(error: unknown): unknown[] {
  return error instanceof SuppressedError ? [...causes(error.suppressed), ...causes(error.error)] : [error];
}

try {
  await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  for (const each of causes(error)) say(each instanceof Error ? each.message : String(each));
  process.exitCode = 1;
}
