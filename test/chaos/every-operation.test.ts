import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../deep/parts.ts';
import { type RawRegistry, startRawRegistry } from '../images/registry/raw-registry.ts';
import { tarGz } from '../images/tar.ts';
import { noTraces, tracesOf } from '../support/host.ts';
import { between, givenSeed, randomFrom } from '../support/random.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const ROUNDS = inPart('kills') ? 15 : 1;
/** Within this the service is killed after the operation was asked for, in ms. */
const MIDDLE = 120;

const seed = givenSeed();
const random = randomFrom(seed);
let service: Service;
let registry: RawRegistry;

beforeAll(async () => {
  registry = await startRawRegistry();
  service = await startService({ flags: ['--registry-allow', `all,${registry.address}`] });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await registry?.close();
});

afterEach(async () => {
  for (const sandbox of ['new', 'it', ...operations.map((one) => one.sandbox)])
    await call(service, 'DeleteSandbox', { sandbox });
});

/** Asks for an operation, kills the service in the middle of it, and starts the next. */
async function interrupted(tool: string, parameters: Record<string, unknown>): Promise<void> {
  await killed([call(service, tool, parameters)], between(random, 1, MIDDLE));
}

async function killed(asked: Promise<unknown>[], afterMs: number): Promise<void> {
  const ended = Promise.allSettled(asked);
  await sleep(afterMs);
  await service.kill();
  await ended;
  await service.restart();
}

async function prepared({ sandbox, before }: (typeof operations)[number]): Promise<void> {
  await must(service, 'CreateSandbox', { name: sandbox, cpu: 2, memory_gb: 1, disk_gb: 1 });
  await must(service, 'WriteFile', { sandbox, path: 'f', content: 'kept' });
  for (const tool of before) await must(service, tool, { sandbox });
}

interface Seen {
  id: string;
  state: string;
  operation?: string;
  resources: Record<string, number>;
}

async function settled(name: string): Promise<Seen | null> {
  const look = async () => (await call(service, 'GetSandbox', { sandbox: name })).body as unknown as Seen;
  await expect.poll(async () => (await look()).operation, { timeout: 30_000 }).toBeUndefined();
  const seen = await look();
  return 'code' in seen ? null : seen;
}

const states = (seen: Seen | null) => seen?.state ?? 'gone';

async function holdsItsFile(seen: Seen): Promise<void> {
  await must(service, 'StartSandbox', { sandbox: seen.id });
  expect(await must(service, 'ReadFile', { sandbox: seen.id, path: 'f' })).toMatchObject({ content: 'kept' });
}

/** Of a sandbox each, by its name. */
const operations: {
  sandbox: string;
  before: string[];
  tool: string;
  parameters?: Record<string, unknown>;
  after: string[];
}[] = [
  { sandbox: 'stopping', before: [], tool: 'StopSandbox', after: ['started', 'stopped'] },
  { sandbox: 'starting', before: ['StopSandbox'], tool: 'StartSandbox', after: ['started', 'stopped'] },
  { sandbox: 'archiving', before: ['StopSandbox'], tool: 'ArchiveSandbox', after: ['stopped', 'archived'] },
  {
    sandbox: 'restoring',
    before: ['StopSandbox', 'ArchiveSandbox'],
    tool: 'StartSandbox',
    after: ['archived', 'started'],
  },
  {
    sandbox: 'resizing-started',
    before: [],
    tool: 'ResizeSandbox',
    parameters: { cpu: 4, memory_gb: 3 },
    after: ['started'],
  },
  {
    sandbox: 'resizing-stopped',
    before: ['StopSandbox'],
    tool: 'ResizeSandbox',
    parameters: { cpu: 1, disk_gb: 3 },
    after: ['stopped'],
  },
];

describe(`a service that is killed (seed ${seed}) in the middle of`, () => {
  it('a create: the sandbox is there whole, or not at all and its name is free', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await interrupted('CreateSandbox', { name: 'new', disk_gb: 1 });
      const seen = await settled('new');
      if (seen)
        expect(await must(service, 'RunCommand', { sandbox: 'new', command: 'echo ok' })).toMatchObject({
          stdout: 'ok\n',
        });
      else await must(service, 'CreateSandbox', { name: 'new', disk_gb: 1 });
      await must(service, 'DeleteSandbox', { sandbox: 'new' });
    }
    await nothingIsLeft();
  }, 600_000);

  it('a create with an Idempotency-Key: the retry gives one sandbox, whatever became of the first call', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const headers = { 'idempotency-key': `round-${round}` };
      const create = () => call(service, 'CreateSandbox', { disk_gb: 1 }, headers);
      const asked = create().catch(() => null);
      await sleep(between(random, 20, MIDDLE));
      await service.kill();
      const first = await asked;
      await service.restart();
      const retried = await create();
      expect(retried.status).toBe(200);
      if (first) expect(retried.body['id']).toBe(first.body['id']);
      expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 1 });
      await must(service, 'DeleteSandbox', { sandbox: retried.body['id'] });
    }
    await nothingIsLeft();
  }, 600_000);

  it('a stop, start, archive, restore and resize: each sandbox is as before or done, and its file is whole', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(operations.map(prepared));
      // Six together take longer than one.
      await killed(
        operations.map(({ tool, sandbox, parameters }) => call(service, tool, { sandbox, ...parameters })),
        between(random, 1, 3 * MIDDLE),
      );
      for (const { sandbox, after } of operations) {
        const seen = await settled(sandbox);
        expect(after, sandbox).toContain(states(seen));
        if (!seen) throw new Error(`the sandbox ${sandbox} is gone`);
        await holdsItsFile(seen);
        await must(service, 'DeleteSandbox', { sandbox });
      }
    }
    await nothingIsLeft();
  }, 600_000);

  it('a snapshot being made: it becomes active, or was never stored, and nothing half-made stays', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const name = `snap-${round}`;
      const layers = ['a', 'b', 'c'].map((file) => tarGz([{ name: file, content: randomBytes(500_000) }]));
      registry.put(name, { layers });
      const parameters = { name, image: `${registry.address}/${name}:1`, resources: { disk: 1 } };
      const asked = call(service, 'CreateSnapshot', parameters).catch(() => null);
      await sleep(between(random, 20, 400));
      await service.kill();
      const answer = await asked;
      await service.restart();
      const look = async () => (await call(service, 'GetSnapshot', { snapshot: name })).body;
      const kept = await look();
      if (answer) expect(kept).toMatchObject({ id: answer.body['id'] });
      if (kept['code'] === 'not_found') await must(service, 'CreateSnapshot', parameters);
      await expect.poll(async () => (await look())['state'], { timeout: 60_000 }).toBe('active');
      await must(service, 'CreateSandbox', { name: 'it', snapshot: name });
      await must(service, 'DeleteSandbox', { sandbox: 'it' });
      expect(readdirSync(join(service.dataDir, 'images/tmp'))).toEqual([]);
    }
    await nothingIsLeft();
  }, 600_000);

  it('a delete: the sandbox is there whole, or gone', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await must(service, 'CreateSandbox', { name: 'it', disk_gb: 1 });
      await must(service, 'WriteFile', { sandbox: 'it', path: 'f', content: 'kept' });
      await interrupted('DeleteSandbox', { sandbox: 'it' });
      const seen = await settled('it');
      if (!seen) continue;
      await holdsItsFile(seen);
      await must(service, 'DeleteSandbox', { sandbox: 'it' });
    }
    await nothingIsLeft();
  }, 120_000);
});

async function nothingIsLeft(): Promise<void> {
  expect(await tracesOf(service.dataDir)).toEqual(noTraces);
}
