/**
 * Calls on a running sandbox: through each of two replicas over PostgreSQL, and through a single process over SQLite with
 * the same runtime, which is what a replica is compared with. And what each call asks of its database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startCountingProxy } from '../../test/store/postgres/counting-proxy.ts';
import { startFront } from '../../test/support/front/front.ts';
import { timed } from '../base/interleave.ts';
import { summarize } from '../base/statistics.ts';
import { type Figures, figures, type Plan } from './figures.ts';
import type { CallName } from './report.ts';
import { type Ground, here, type Service, startOne, type Target, targetOf } from './services.ts';

const ROUNDS = 120;
const WARM_UPS = 20;
const COUNTED = 15;
const COUNTED_CREATIONS = 5;
/** Long enough for the audit rows of the call before, which follow within 0.2 s. */
const QUIET_MS = 400;

const calls: Record<CallName, (target: Target, sandbox: string) => Promise<unknown>> = {
  GetSandbox: (target, sandbox) => target.tool('GetSandbox', { sandbox }),
  RunCommand: (target, sandbox) => target.tool('RunCommand', { sandbox, command: 'true' }),
  ReadFile: (target, sandbox) => target.tool('ReadFile', { sandbox, path: '/tmp/kilobyte' }),
  ListSandboxes: (target) => target.tool('ListSandboxes', {}),
};
const names = Object.keys(calls) as CallName[];

export async function callsThrough(ground: Ground, replicas: Service[], plan: Plan): Promise<Figures> {
  await using cleanup = new AsyncDisposableStack();
  const alone = cleanup.use(await startOne(ground, { name: 'alone', database: null }));
  const front = await startFront({ mode: 'requests', replicas: replicas.map(({ process }) => process) });
  cleanup.defer(() => front.close());
  const whole = targetOf('front', front, ground.installation.apiKey);
  cleanup.defer(() => whole.close());
  const found = figures();
  const own = await sandboxOf(alone);
  const shared = await sandboxOf(replicas[0] as Service);
  const sides = [
    { side: 'alone', target: alone, sandbox: own },
    ...replicas.map((target, at) => ({ side: at === 0 ? 'first' : 'second', target, sandbox: shared })),
    { side: 'front', target: whole, sandbox: shared },
  ] as const;
  for (let round = -WARM_UPS; round < plan.rounds(ROUNDS); round++) {
    for (const name of names) {
      // Another side begins each round: none always follows the slowest.
      for (let at = 0; at < sides.length; at++) {
        const { side, target, sandbox } = sides[
          (at + round + WARM_UPS) % sides.length
        ] as (typeof sides)[number];
        const took = await timed(() => calls[name](target, sandbox));
        if (round >= 0) found.add({ [`${name}/${side}`]: took });
      }
    }
  }
  await alone.tool('DeleteSandbox', { sandbox: own });
  await (replicas[0] as Service).tool('DeleteSandbox', { sandbox: shared });
  return found;
}

/** Of a replica, round trips to PostgreSQL; of a single process, statements of SQLite. Medians: both also work by themselves. */
export async function databaseWork(ground: Ground): Promise<Figures> {
  const found = figures();
  const { installation } = ground;
  await using cleanup = new AsyncDisposableStack();
  const proxy = await startCountingProxy(installation.postgres.port);
  cleanup.defer(() => proxy.close());
  const local = new URL(installation.database);
  local.hostname = '127.0.0.1';
  const replica = cleanup.use(
    await startOne(ground, { name: 'counted', database: proxy.through(local.href) }),
  );
  await count(replica, proxy.during, (name, trips) => found.add({ [`${name}/trips`]: trips }));
  const env = { NODE_OPTIONS: `--import=${here('count-statements.ts')}` };
  const alone = cleanup.use(await startOne(ground, { name: 'alone', database: null, env }));
  const statements = async (work: () => Promise<unknown>) => {
    const before = await statementsOf(alone);
    await work();
    return (await statementsOf(alone)) - before;
  };
  await count(alone, statements, (name, made) => found.add({ [`${name}/statements`]: made }));
  return found;
}

type CountedName = CallName | 'CreateSandbox' | 'DeleteSandbox';

async function count(
  target: Target,
  counted: (work: () => Promise<unknown>) => Promise<number>,
  report: (name: CountedName, each: number) => void,
): Promise<void> {
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    await sleep(QUIET_MS);
    return counted(work);
  };
  const made: string[] = [];
  const create = async () => void made.push(await sandboxOf(target, false));
  const remove = async () => void (await target.tool('DeleteSandbox', { sandbox: made.shift() }));
  const creations: number[] = [];
  for (let turn = 0; turn < COUNTED_CREATIONS; turn++) creations.push(await during(create));
  report('CreateSandbox', summarize(creations).median);
  const [sandbox = ''] = made;
  await calls.RunCommand(target, sandbox);
  await target.tool('WriteFile', { sandbox, path: '/tmp/kilobyte', content: 'k'.repeat(1024) });
  for (const name of names) {
    const counts: number[] = [];
    for (let turn = 0; turn < COUNTED; turn++) counts.push(await during(() => calls[name](target, sandbox)));
    report(name, summarize(counts).median);
  }
  const removals: number[] = [];
  while (made.length > 0) removals.push(await during(remove));
  report('DeleteSandbox', summarize(removals).median);
}

async function sandboxOf(target: Target, withFile = true): Promise<string> {
  const sandbox = String((await target.tool('CreateSandbox', {}))['id']);
  if (withFile) await target.tool('WriteFile', { sandbox, path: '/tmp/kilobyte', content: 'k'.repeat(1024) });
  return sandbox;
}

/** Asks the process for its count by a signal, and reads the answer from its log. */
async function statementsOf({ process: { pid, log } }: Service): Promise<number> {
  const answers = () => [...log().matchAll(/^statements (\d+)$/gm)];
  const before = answers().length;
  process.kill(pid, 'SIGUSR2');
  while (answers().length === before) await sleep(5);
  return Number(answers().at(-1)?.[1]);
}
