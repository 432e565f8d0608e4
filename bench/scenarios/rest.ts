/**
 * Times the same calls in two states of the machine: directly after one of their kind, and after half a second in which
 * nothing works, when processors sleep and caches are cold. Beside the durable write is a plain program that does the
 * least of it, inside.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { IDLE, IMAGE } from '../base/docker.ts';
import { type Figures, interleave, timed } from '../base/interleave.ts';
import type { Sandhaven } from '../base/sandhaven.ts';
import type { Scenario } from '../base/scenario.ts';
import { type Contender, ofApi, ofCommandLine, ofService } from '../launches/contender.ts';
import { asWarmToo } from '../launches/warm-too.ts';

const ROUNDS = 12;
const PAUSE_MS = 300;
const REST_MS = 500;
const WARM_POOL = 4;
const CONTENT = 'x'.repeat(1_024);
const FOLDER = '/workspace';

/** Writes new files, as the tool does, and prints the milliseconds of the second of two, and of one after rest. */
const PLAIN_WRITE = `
import os, time
os.makedirs('${FOLDER}', exist_ok=True)
def write(name):
    path = '${FOLDER}/plain-' + name
    begun = time.perf_counter()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(file, b'x' * 1024)
    os.fdatasync(file)
    os.close(file)
    taken = time.perf_counter() - begun
    os.unlink(path)
    return taken * 1000
write('first')
hot = write('second')
time.sleep(${REST_MS / 1_000})
print(hot, write('third'))
`;

/** In milliseconds. */
interface Times {
  hot: number;
  rested: number;
}

export const rest: Scenario = async (bench) => {
  const { docker, sandhaven } = bench;
  await using warm = await bench.startAnother(WARM_POOL);
  const sandbox = await sandhaven.create();
  const container = await docker.cli('run', '-d', IMAGE, ...IDLE);
  const { cli, api } = docker;
  const samples = await interleave(bench.rounds(ROUNDS, PAUSE_MS), {
    sandhaven: async () => ({
      ...(await lives(ofService(sandhaven))),
      ...(await claimed(warm)),
      ...(await used(sandhaven, sandbox)),
    }),
    docker: async () => ({
      ...(await lives(ofCommandLine(docker))),
      ...commands(await inBothStates(() => cli('exec', container, 'true'))),
      ...plainWrites(await cli('exec', container, 'python3', '-c', PLAIN_WRITE)),
    }),
    dockerApi: async () => ({
      ...(await lives(ofApi(docker))),
      ...commands(await inBothStates(() => api.exec(container, ['true']))),
    }),
  });
  await Promise.all([sandhaven.remove(sandbox), docker.cli('rm', '-f', container)]);
  const pairs = { createWarmHot: 'createColdHot', createWarmRested: 'createColdRested' } as const;
  return { samples: asWarmToo(samples, pairs) };
};

/** Times the second of two calls in a row, and one after rest. */
async function inBothStates(call: () => Promise<unknown>, settled = async () => {}): Promise<Times> {
  await call();
  const hot = await timed(call);
  await settled();
  await sleep(REST_MS);
  return { hot, rested: await timed(call) };
}

async function lives({ create, remove }: Contender): Promise<Figures> {
  const ids: string[] = [];
  const creates = await inBothStates(async () => ids.push(await create()));
  const removes = await inBothStates(async () => remove(ids.pop() ?? ''));
  return {
    createColdHot: creates.hot,
    createColdRested: creates.rested,
    removeHot: removes.hot,
    removeRested: removes.rested,
  };
}

/** Rest begins when the pool has been filled again. */
async function claimed(warm: Sandhaven): Promise<Figures> {
  await warm.poolFull();
  const ids: string[] = [];
  const claims = await inBothStates(
    async () => ids.push(await warm.create()),
    () => warm.poolFull(),
  );
  for (const id of ids) await warm.remove(id);
  return { createWarmHot: claims.hot, createWarmRested: claims.rested };
}

async function used(sandhaven: Sandhaven, sandbox: string): Promise<Figures> {
  const command = await inBothStates(() => sandhaven.command(sandbox, 'true'));
  const write = await inBothStates(() => sandhaven.writeFile(sandbox, `${FOLDER}/durable`, CONTENT, true));
  return {
    ...commands(command),
    writeDurableHot: write.hot,
    writeDurableRested: write.rested,
    ...plainWrites(await sandhaven.code(sandbox, PLAIN_WRITE)),
  };
}

function commands({ hot, rested }: Times): Figures {
  return { runCommandHot: hot, runCommandRested: rested };
}

function plainWrites(printed: string): Figures {
  const [hot, rested] = printed.trim().split(' ').map(Number);
  return { plainWriteHot: hot ?? Number.NaN, plainWriteRested: rested ?? Number.NaN };
}
