/**
 * Weighs a hundred idle sandboxes on the host: the growth of used memory, so that the kernel's own structures
 * (mounts, namespaces, cgroups, sockets) count as well as processes, and droppable cache does not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { chargedBytes } from '../base/cgroups.ts';
import { run } from '../base/command.ts';
import { IDLE, IMAGE } from '../base/docker.ts';
import { addFigures, type Samples, type Side } from '../base/interleave.ts';
import { type HostMemory, hostMemory, processMemory, usedBytes } from '../base/memory.ts';
import type { Scenario } from '../base/scenario.ts';
import { summarize } from '../base/statistics.ts';
import { inTurns } from '../launches/in-turns.ts';

const BATCHES = 5;
const BATCHES_QUICK = 3;
const BATCH = 20;
const SETTLE_MS = 2_000;

interface Contender {
  create(): Promise<string>;
  remove(id: string): Promise<unknown>;
  cgroup: string;
  serviceBytes(): Promise<number>;
}

export const memory: Scenario = async ({ docker, sandhaven, signal, quick }) => {
  const batches = quick ? BATCHES_QUICK : BATCHES;
  const contenders: Partial<Record<Side, Contender>> = {
    sandhaven: {
      create: () => sandhaven.create(),
      remove: (id) => sandhaven.remove(id),
      cgroup: sandhaven.cgroup,
      serviceBytes: async () => (await processMemory(sandhaven.pid)).resident,
    },
    docker: {
      create: () => docker.api.run(IMAGE, IDLE),
      remove: (id) => docker.api.remove(id),
      cgroup: docker.cgroup,
      serviceBytes: docker.serviceBytes,
    },
  };
  const samples: Samples = {};
  const details: Record<string, unknown> = { sandboxes_a_batch: BATCH };
  const notes: string[] = [];
  for (const [side, contender] of Object.entries(contenders) as [Side, Contender][]) {
    signal.throwIfAborted();
    const weights = await weigh(contender, batches);
    const growths = weights.slice(1).map((weight, index) => growthEach(weights[index] ?? weight, weight));
    details[side] = { weights, growth_of_each: growths };
    const grown = growths.map(({ host }) => host / 1e6);
    if (summarize(grown).median > 0)
      for (const idleMemory of grown) addFigures(samples, side, { idleMemory });
    else
      notes.push(
        `memory, ${side}: NOT MEASURED, others gave memory back meanwhile; the machine must be at rest.`,
      );
    addFigures(samples, side, { serviceMemory: (weights.at(-1)?.service ?? Number.NaN) / 1e6 });
    notes.push(explain(side, batches * BATCH, growths));
  }
  return { samples, details, notes };
};

/** In bytes. `host` is used memory, `cgroups` the kernel's charge to sandboxes, cache included. */
interface Weight extends HostMemory {
  host: number;
  cgroups: number;
  service: number;
}

/**
 * Weighs before the first batch and after each: the median of the steps excludes other programs' activity during
 * one of them.
 */
async function weigh(
  { create, remove, cgroup, serviceBytes }: Contender,
  batches: number,
): Promise<Weight[]> {
  // The first one makes the resources that all share.
  const ids = [await create()];
  const weights = [await weighOnce(cgroup, serviceBytes)];
  for (let batch = 0; batch < batches; batch++) {
    await inTurns(Array.from({ length: BATCH }), async () => {
      ids.push(await create());
    });
    weights.push(await weighOnce(cgroup, serviceBytes));
  }
  await inTurns(ids, remove);
  return weights;
}

function growthEach(before: Weight, after: Weight): Weight {
  const names = Object.keys(after) as (keyof Weight)[];
  return Object.fromEntries(
    names.map((name) => [name, (after[name] - before[name]) / BATCH]),
  ) as unknown as Weight;
}

async function weighOnce(cgroup: string, serviceBytes: () => Promise<number>): Promise<Weight> {
  await sleep(SETTLE_MS);
  await run('sync', []);
  const memory = await hostMemory();
  return {
    ...memory,
    host: usedBytes(memory),
    cgroups: await chargedBytes(cgroup),
    service: await serviceBytes(),
  };
}

function explain(side: Side, count: number, growths: Weight[]): string {
  const mb = (...names: (keyof Weight)[]) =>
    (
      names.reduce((sum, name) => sum + summarize(growths.map((growth) => growth[name])).median, 0) / 1e6
    ).toFixed(2);
  return (
    `memory, ${side}: ${mb('host')} MB more in use for each of ${count}. Processes ${mb('AnonPages')}, ` +
    `slab ${mb('SUnreclaim')} (and ${mb('SReclaimable')} reclaimable), per-CPU ${mb('Percpu')}, stacks and page ` +
    `tables ${mb('KernelStack', 'PageTables')}, and page cache ${mb('Cached')} besides; the service itself grew by ` +
    `${mb('service')}, the cgroups are charged ${mb('cgroups')}.`
  );
}
