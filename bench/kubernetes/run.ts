/**
 * `make bench-cluster`: measures `--runtime kubernetes` on a cluster of two nodes on this machine, with two replicas over
 * PostgreSQL, beside Pods that a user of the bare API makes.
 *
 * bench/kubernetes/run.ts [--only cold|calls|database|warm|crowd]… [--quick]
 *
 * Prints a table and writes every sample to bench/results/. Needs root, and what `make test-deep PART=cluster` builds.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KUBERNETES } from '../../setup/cluster/folders.ts';
import { run } from '../base/command.ts';
import { home } from '../base/machine.ts';
import { callsThrough, databaseWork } from './calls.ts';
import { coldCreates, crowd, warmCreates } from './creates.ts';
import { type Figures, figures, type Plan, planOf } from './figures.ts';
import { databaseLinesOf, linesOf, render } from './report.ts';
import { type Ground, prepareGround, startOne } from './services.ts';

type Part = (ground: Ground, plan: Plan) => Promise<Figures>;

/** In the order of their run: no replica has a pool in the first three. */
const parts: Record<string, Part> = {
  async cold(ground, plan) {
    await using replica = await startOne(ground, { name: 'one' });
    return await coldCreates(ground, replica, plan);
  },
  async calls(ground, plan) {
    await using first = await startOne(ground, { name: 'one' });
    await using second = await startOne(ground, { name: 'two' });
    return await callsThrough(ground, [first, second], plan);
  },
  database: databaseWork,
  warm: warmCreates,
  crowd,
};

async function main(only: string[], plan: Plan): Promise<void> {
  const facts = await machineFacts();
  say('starting a cluster of two nodes, and PostgreSQL');
  await using ground = await prepareGround();
  const found = figures();
  for (const name of only) {
    const begun = performance.now();
    try {
      const part = (await parts[name]?.(ground, plan)) ?? figures();
      for (const [metric, values] of part.samples) found.samples.set(metric, values);
      // A run takes minutes: what is known is shown, also when it is broken off.
      say(`\n${render(linesOf(part), databaseLinesOf(part))}`);
    } catch (error) {
      // The other parts are worth their figures.
      process.exitCode = 1;
      console.error(error);
    }
    say(`${name}: measured in ${Math.round((performance.now() - begun) / 1_000)} s`);
  }
  const lines = linesOf(found);
  const database = databaseLinesOf(found);
  const { cores, memory_bytes, kernel, kubernetes, load_average } = facts;
  process.stdout.write(`\n${render(lines, database)}\n\n`);
  process.stdout.write(
    `${cores} cores, ${Math.round(memory_bytes / 1e9)} GB, Linux ${kernel}, Kubernetes ${kubernetes}; load at the start ${load_average[0]?.toFixed(2)}.\n`,
  );
  const folder = join(home, 'bench/results');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `kubernetes-${facts.date.replaceAll(/[:.]/g, '-')}.json`);
  const content = { machine: facts, only, quick: plan.quick, lines, database };
  const results = { ...content, samples: Object.fromEntries(found.samples) };
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  say(`every sample: ${file}`);
}

async function machineFacts() {
  const git = (...args: string[]) => run('git', ['-C', home, ...args]).catch(() => '');
  return {
    date: new Date().toISOString(),
    commit: await git('rev-parse', 'HEAD'),
    changed_files: (await git('status', '--porcelain')).split('\n').filter(Boolean).length,
    kernel: release(),
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memory_bytes: totalmem(),
    load_average: loadavg(),
    kubernetes: KUBERNETES,
    node: process.version,
  };
}

function say(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, quick: { type: 'boolean', default: false } },
});
const unknown = values.only?.find((name) => !(name in parts));
if (unknown) throw new Error(`No part '${unknown}': there are ${Object.keys(parts).join(', ')}.`);
const chosen = Object.keys(parts).filter((name) => values.only?.includes(name) ?? true);
await main(chosen, planOf(values.quick));
