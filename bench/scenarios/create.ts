/** Creates sandboxes one after the other: from nothing, from the warm pool, and with a first use. */
import { type Figures, interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';
import { type Contender, ofApi, ofCommandLine, ofService } from '../launches/contender.ts';
import { asWarmToo } from '../launches/warm-too.ts';

const ROUNDS = 20;
const PAUSE_MS = 300;
const WARM_POOL = 4;
const NOTHING = ['true'];
const NODE = ['node', '-v'];

export const create: Scenario = async (bench) => {
  const { docker, sandhaven } = bench;
  await using warm = await bench.startAnother(WARM_POOL);
  await warm.poolFull();
  const samples = await interleave(bench.rounds(ROUNDS, PAUSE_MS), {
    async sandhaven() {
      const cold = await useOnce(ofService(sandhaven), NOTHING);
      const claimed = await useOnce(ofService(warm), NOTHING);
      await warm.poolFull();
      const node = await useOnce(ofService(warm), NODE);
      await warm.poolFull();
      return {
        createCold: cold.create,
        createColdUsed: cold.used,
        createWarm: claimed.create,
        createWarmUsed: claimed.used,
        createWarmNode: node.used,
        remove: cold.remove,
      };
    },
    docker: () => runTwice(ofCommandLine(docker)),
    dockerApi: () => runTwice(ofApi(docker)),
  });
  const pairs = { createWarm: 'createCold', createWarmUsed: 'createColdUsed' } as const;
  return { samples: asWarmToo(samples, pairs) };
};

async function useOnce(contender: Contender, command: string[]) {
  let id = '';
  const create = await timed(async () => {
    id = await contender.create();
  });
  const run = await timed(() => contender.run(id, command));
  const remove = await timed(() => contender.remove(id));
  return { create, used: create + run, remove };
}

async function runTwice(contender: Contender): Promise<Figures> {
  const { create, used, remove } = await useOnce(contender, NOTHING);
  const node = await useOnce(contender, NODE);
  return { createCold: create, createColdUsed: used, createWarmNode: node.used, remove };
}
