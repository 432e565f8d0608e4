/**
 * 500 random operations on two replicas while replicas, kubelets, PostgreSQL, S3 and the API server are killed and come
 * back. Callers repeat no call but creations, under their keys, and deletions.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Front, startFront } from '../../support/front/front.ts';
import { between, givenSeed, randomFrom } from '../../support/random.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { type ClusterS3, s3For } from '../companions/companions.ts';
import { type ClusterInstallation, call, installOn, ok } from '../kubernetes/installation.ts';
import { type ReplicaProcess, startReplica } from '../kubernetes/replica.ts';
import { createCallers, sha256 } from './callers.ts';
import { runningAgents, watchContainers } from './containers.ts';
import { type MortalPart, strike } from './faults.ts';
import { goingOn, linesAbout } from './going-on.ts';
import { createLedger, type Known } from './ledger.ts';

const OPERATIONS = 500;
/** Deaths of each part as the first of a fault; in a third of all faults another part dies too. */
const TURNS = 2;
const CALLERS = 6;
const SETTLE_MS = 60_000;
const SLOW_MS = 15_000;
const CLUSTER_BACK_MS = 90_000;
const AGAIN_MS = 500;
const MOST_CALM_MS = 4_000;
const BUCKET = 'archives';
const ORPHAN_AGE_HOURS = 24;
/** Each sandbox asks for a part of them, and uses little. */
const HARDWARE = { processors: 64, memoryGiB: 256 };

const seed = givenSeed();
const random = randomFrom(seed);
const ledger = createLedger();
const watch = watchContainers();
const replicas = new Map<string, ReplicaProcess>();
/** Logs of the killed ones. */
let earlier = '';
/** What was going on when a caller gave up. */
let atFailure = '';
let cluster: Cluster;
let installation: ClusterInstallation;
let s3: ClusterS3;
let front: Front;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2, hardware: HARDWARE });
  s3 = await s3For(cluster);
  await s3.makeBucket(BUCKET);
  const place = ['--archive-store', `s3://${BUCKET}/chaos`, '--s3-endpoint', s3.options.endpoint];
  installation = await installOn(cluster, place);
  const { accessKeyId, secretAccessKey } = s3.options.credentials;
  installation.env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  front = await startFront({ mode: 'requests', replicas: [] });
  for (const name of ['one', 'two']) await begin(name);
}, 240_000);

afterAll(async () => {
  await watch.stop();
  await front?.close();
  await Promise.all([...replicas.values()].map((replica) => replica.kill()));
  installation?.close();
  await cluster?.stop();
});

describe(`parts that are killed at random points of ${OPERATIONS} operations (seed ${seed})`, () => {
  it('leave nothing lost, nothing stuck, nothing doubled', { timeout: 1_800_000 }, async () => {
    try {
      await operateUnderFaults();
      await everySandboxIsWhole();
      await nothingIsLeft();
      expect(watch.looks()).toBeGreaterThan(100);
      expect([...watch.doubled]).toEqual([]);
    } catch (error) {
      for (const { name, log } of replicas.values()) earlier += `${name}\n${log()}`;
      console.info(linesAbout(`${error} ${atFailure}`, earlier).slice(-40_000));
      throw error;
    }
  });
});

async function operateUnderFaults(): Promise<void> {
  const service = { url: front.url, apiKey: installation.apiKey };
  const callers = createCallers({ service, ledger, random, count: CALLERS });
  const called = () => [...callers.counts.values()].reduce((sum, count) => sum + count, 0);
  let strikes = true;
  let failed = false;
  const calling = callers.run(() => !failed && (strikes || called() < OPERATIONS));
  const reported = calling.catch(async () => {
    failed = true;
    atFailure = await goingOn(cluster, installation).catch(String);
    console.info(`at ${new Date().toISOString()}\n${atFailure}`);
  });
  try {
    for (const part of turns()) {
      await delay(between(random, 500, MOST_CALM_MS));
      if (failed) break;
      const { parts, downMs } = await strike(random, part, mortals());
      const settledMs = await interruptedSettle();
      console.info(`${parts.join(' and ')} dead for ${seconds(downMs)}, settled after ${seconds(settledMs)}`);
    }
  } finally {
    strikes = false;
    await reported;
    await calling;
  }
  await interruptedSettle();
  const lines = [...callers.counts].map(([what, count]) => `${what}: ${count}`).sort();
  console.info(`${called()} calls\n${lines.join('\n')}`);
}

/** Each part as often as the others, in an order of the seed. */
function turns(): MortalPart[] {
  const all = Array.from({ length: TURNS }, () => mortals()).flat();
  return all
    .map((part) => ({ part, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ part }) => part);
}

function mortals(): MortalPart[] {
  const { nodes, parts, api } = cluster;
  const { postgres } = installation;
  return [
    ...(['one', 'two'] as const).map((name) => ({
      name: `replica ${name}`,
      kill: () => end(name),
      start: () => begin(name),
    })),
    ...nodes.map((node) => ({
      name: `kubelet of ${node.name}`,
      kill: () => node.parts.kubelet.kill(),
      start: async () => node.parts.kubelet.start(),
    })),
    { name: 'PostgreSQL', kill: () => postgres.kill(), start: () => postgres.start() },
    { name: 'S3', kill: () => s3.kill(), start: () => s3.start() },
    {
      name: 'API server',
      kill: () => parts.apiServer.kill(),
      async start() {
        parts.apiServer.start();
        await api.until('/api/v1/namespaces/default', ({ kind }) => kind === 'Namespace');
      },
    },
  ];
}

async function begin(name: string): Promise<void> {
  replicas.set(name, await startReplica(installation, name));
  front.setReplicas([...replicas.values()]);
}

async function end(name: string): Promise<void> {
  const replica = replicas.get(name);
  if (!replica) return;
  replicas.delete(name);
  await replica.kill();
  earlier += replica.log();
}

/** Resolves when each operation that is in progress now was seen to have ended, with the time that it took. */
async function interruptedSettle(): Promise<number> {
  const began = performance.now();
  const open = new Set(await inProgress());
  let isSlow = false;
  while (open.size > 0) {
    const tookMs = performance.now() - began;
    if (!isSlow && tookMs > SLOW_MS) {
      isSlow = true;
      console.info(
        `not settled after ${seconds(tookMs)}: ${[...open].join(', ')}\n${await goingOn(cluster, installation)}`,
      );
    }
    if (tookMs > SETTLE_MS) {
      const rows = await query('SELECT id, state, operation, generation, holder FROM sandboxes');
      throw new Error(`stuck: ${[...open].join(', ')} of ${JSON.stringify(rows)}`);
    }
    await delay(50);
    const still = new Set(await inProgress());
    for (const id of open) if (!still.has(id)) open.delete(id);
  }
  return performance.now() - began;
}

/**
 * Operations by their sandbox and kind: the one that takes over has another generation. A creation has failed, and is answered,
 * when its row has given up its name; the removal of what it has left is an operation of its own.
 */
async function inProgress(): Promise<string[]> {
  const rows = await query('SELECT id, name, operation FROM sandboxes WHERE operation IS NOT NULL');
  return rows.map(({ id, name, operation }) => `${name === id ? 'discarding' : operation} ${id}`);
}

function query(sql: string): Promise<Record<string, unknown>[]> {
  return installation.postgres.query(installation.database, sql);
}

interface Listed {
  id: string;
  state: string;
  state_reason?: string;
}

async function listed(): Promise<Listed[]> {
  const { sandboxes } = await ok(front, 'ListSandboxes', { page_size: 100 });
  return sandboxes as Listed[];
}

async function everySandboxIsWhole(): Promise<void> {
  const sandboxes = await listed();
  const states = sandboxes.map(({ state, state_reason }) => [state, state_reason].filter(Boolean).join(': '));
  console.info(`${sandboxes.length} sandboxes at the end: ${states.join(', ')}`);
  const known = ledger.all();
  // Creations were repeated until they were answered, so what nobody knows of was made twice.
  const unknown = sandboxes.filter(({ id }) => !known.some((one) => one.id === id));
  expect(unknown).toEqual([]);
  for (const one of known) {
    if (sandboxes.some(({ id }) => id === one.id)) await isWhole(one);
    else expect(one.deleteRequested, `${one.id} is lost`).toBe(true);
  }
}

async function isWhole({ id: sandbox, files, lines }: Known): Promise<void> {
  await started(sandbox);
  for (const [path, digest] of files) {
    const { content } = await ok(front, 'ReadFile', { sandbox, path });
    expect(sha256(String(content)), `${sandbox}: ${path}`).toBe(digest);
  }
  const { stdout } = await ok(front, 'RunCommand', { sandbox, command: 'cat lines 2>/dev/null || true' });
  const found = String(stdout).split('\n');
  for (const [line, isAcknowledged] of lines) {
    const count = found.filter((text) => text === line).length;
    expect(count, `${sandbox}: ${line}`).toBeLessThanOrEqual(1);
    if (isAcknowledged) expect(count, `${sandbox}: ${line}`).toBe(1);
  }
}

/** Repeats a start that is refused for now: a scheduler looks at Pods again up to a minute after outages in a row. */
async function started(sandbox: string): Promise<void> {
  const until = performance.now() + CLUSTER_BACK_MS;
  for (;;) {
    const answer = await call(front, 'StartSandbox', { sandbox });
    if (!('code' in answer)) return;
    if (answer['retryable'] !== true || performance.now() > until) throw new Error(JSON.stringify(answer));
    console.info(`${sandbox} is started again later: ${answer['detail']}`);
    await delay(AGAIN_MS);
  }
}

async function nothingIsLeft(): Promise<void> {
  for (const { id: sandbox } of await listed()) await ok(front, 'DeleteSandbox', { sandbox });
  expect(await query('SELECT id FROM sandboxes')).toEqual([]);
  await expect.poll(objects, { timeout: SETTLE_MS }).toEqual([]);
  expect(runningAgents().size).toBe(0);
  await archivesAreCollected();
}

/** A delete does not wait for S3: what it could not remove there goes a day later, or at a start after that. */
async function archivesAreCollected(): Promise<void> {
  console.info(`${s3.keys(BUCKET).length} archives are left to the collector`);
  s3.age(BUCKET, ORPHAN_AGE_HOURS + 1);
  for (const name of [...replicas.keys()]) await end(name);
  for (const name of ['one', 'two']) await begin(name);
  await expect.poll(() => s3.keys(BUCKET), { timeout: SETTLE_MS }).toEqual([]);
}

/** Objects of sandboxes that the cluster has. */
async function objects(): Promise<string[]> {
  const kinds = ['configmaps', 'persistentvolumeclaims', 'pods', 'secrets'];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const path = `/api/v1/namespaces/default/${kind}?labelSelector=sandhaven.dev/sandbox`;
      const { items } = (await cluster.api.get(path)) as { items: { metadata: { name: string } }[] };
      return items.map(({ metadata }) => `${kind}/${metadata.name}`);
    }),
  );
  return lists.flat();
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
