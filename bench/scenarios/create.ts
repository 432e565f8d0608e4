/** Creates sandboxes one after the other: from nothing, from the warm pool, and with a first use. */
import { type Docker, IDLE, IMAGE } from '../docker.ts';
import { type Figures, interleave, type Samples, timed } from '../interleave.ts';
import type { Sandhaven } from '../sandhaven.ts';
import type { Scenario } from '../scenario.ts';

const ROUNDS = 20;
const PAUSE_MS = 300;
const WARM_POOL = 4;

export const create: Scenario = async (bench) => {
  const { docker, sandhaven } = bench;
  await using warm = await bench.startAnother(WARM_POOL);
  await warm.poolFull();
  const samples = await interleave(bench.rounds(ROUNDS, PAUSE_MS), {
    async sandhaven() {
      const cold = await useOnce(sandhaven);
      const claimed = await useOnce(warm);
      await warm.poolFull();
      return {
        createCold: cold.create,
        createColdUsed: cold.used,
        createWarm: claimed.create,
        createWarmUsed: claimed.used,
        remove: cold.remove,
      };
    },
    docker: () => runOnce(docker),
    dockerApi: () => runOnceByApi(docker),
  });
  return { samples: asWarmToo(samples) };
};

async function useOnce(sandhaven: Sandhaven) {
  let id = '';
  const create = await timed(async () => {
    id = await sandhaven.create();
  });
  const command = await timed(() => sandhaven.command(id, 'true'));
  const remove = await timed(() => sandhaven.remove(id));
  return { create, used: create + command, remove };
}

async function runOnce({ cli }: Docker): Promise<Figures> {
  let id = '';
  const create = await timed(async () => {
    id = await cli('run', '-d', IMAGE, ...IDLE);
  });
  const command = await timed(() => cli('exec', id, 'true'));
  const remove = await timed(() => cli('rm', '-f', id));
  return { createCold: create, createColdUsed: create + command, remove };
}

async function runOnceByApi({ api }: Docker): Promise<Figures> {
  let id = '';
  const create = await timed(async () => {
    id = await api.run(IMAGE, IDLE);
  });
  const command = await timed(() => api.exec(id, ['true']));
  const remove = await timed(() => api.remove(id));
  return { createCold: create, createColdUsed: create + command, remove };
}

/** Docker has no pool: the same `docker run` stands beside a claim. */
function asWarmToo(samples: Samples): Samples {
  const { createCold, createColdUsed, createWarm, createWarmUsed } = samples;
  return {
    ...samples,
    createWarm: { ...createCold, ...createWarm },
    createWarmUsed: { ...createColdUsed, ...createWarmUsed },
  };
}
