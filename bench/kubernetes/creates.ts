/** Creations: cold beside a bare Pod, from a warm pool one by one, and a hundred at once from a pool of a hundred. */
import { timed } from '../base/interleave.ts';
import { openBarePods } from './bare-pod.ts';
import { type Figures, figures, type Plan } from './figures.ts';
import { type Ground, poolHas, type Service, startOne, type Target } from './services.ts';

const COLD_ROUNDS = 8;
const WARM_ROUNDS = 12;
const WARM_POOL = 4;
const CROWD = 100;
const POOL_MS = 120_000;
/** A hundred starts on one machine of two processors. */
const CROWD_POOL_MS = 540_000;

/** Each round gives every side one turn; the first of each is not counted, since nodes pull images then. */
export async function coldCreates(ground: Ground, replica: Target, plan: Plan): Promise<Figures> {
  const bare = await openBarePods(ground.cluster.kubeconfig, ground.baseImage);
  const found = figures();
  try {
    for (let round = -2; round < plan.rounds(COLD_ROUNDS); round++) {
      const ours = await createOnce(replica);
      const sides = {
        createCold: ours.create,
        createColdUsed: ours.used,
        remove: ours.remove,
        bareWithDisk: await bare.createToReady(true),
        barePod: await bare.createToReady(false),
      };
      if (round >= 0) found.add(sides);
    }
  } finally {
    bare.close();
  }
  return found;
}

/** Two replicas with a pool: claims go to each in turn, of which one fills the pool. */
export async function warmCreates(ground: Ground, plan: Plan): Promise<Figures> {
  await using services = await startTwo(ground, String(WARM_POOL));
  const found = figures();
  for (let round = -2; round < plan.rounds(WARM_ROUNDS); round++) {
    await poolHas(ground, WARM_POOL, POOL_MS);
    const { create, used } = await createOnce(services.both[Math.abs(round) % 2] as Target);
    if (round >= 0) found.add({ createWarm: create, createWarmUsed: used });
  }
  return found;
}

/** Creates a hundred at once, from a pool of as many. */
export async function crowd(ground: Ground, plan: Plan): Promise<Figures> {
  const size = plan.quick ? CROWD / 5 : CROWD;
  await using services = await startTwo(ground, String(size));
  const found = figures();
  const filled = await timed(() => poolHas(ground, size, CROWD_POOL_MS));
  found.add({ crowdSize: size, crowdFilled: filled / 1_000 });
  const made: string[] = [];
  const whole = await timed(() =>
    Promise.all(
      Array.from({ length: size }, async (_, at) => {
        const target = services.both[at % 2] as Target;
        const each = await timed(async () => {
          made.push(String((await target.tool('CreateSandbox', {}))['id']));
        });
        found.add({ crowdEach: each });
      }),
    ),
  );
  // The target is of a hundred.
  if (size === CROWD) found.add({ crowdAll: whole / 1_000 });
  return found;
}

async function createOnce(target: Target) {
  let sandbox = '';
  const create = await timed(async () => {
    sandbox = String((await target.tool('CreateSandbox', {}))['id']);
  });
  const command = await timed(() => target.tool('RunCommand', { sandbox, command: 'true' }));
  const remove = await timed(() => target.tool('DeleteSandbox', { sandbox }));
  return { create, used: create + command, remove };
}

async function startTwo(
  ground: Ground,
  warmPool: string,
): Promise<{ both: [Service, Service] } & AsyncDisposable> {
  const first = await startOne(ground, { name: 'one', warmPool });
  const second = await startOne(ground, { name: 'two', warmPool });
  return {
    both: [first, second],
    async [Symbol.asyncDispose]() {
      await Promise.all([first, second].map((service) => service[Symbol.asyncDispose]()));
    },
  };
}
