/** A service that may open few files: creating and deleting many at once may be refused, in words, and ends nothing. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noTraces, tracesOf } from '../support/host.ts';
import {
  type Answer,
  bin,
  call,
  freeAddresses,
  must,
  type Service,
  startService,
} from '../support/service.ts';

const SANDBOXES = 16;
/** Above what the service holds open at rest. */
const SPARE_FILES = 24;
let service: Service;

beforeAll(async () => {
  service = await startService({
    provokes: [
      'The machine could not be started.',
      'The sandbox could not be removed.',
      'work failed, and is repeated',
      'firewall check failed',
    ],
  });
  await create('s');
}, 240_000);

afterAll(() => service?.stop(), 120_000);

const create = (prefix: string) =>
  Promise.all(
    Array.from({ length: SANDBOXES }, (_, number) =>
      must(service, 'CreateSandbox', { name: `${prefix}${number}`, disk_gb: 1, cpu: 1, memory_gb: 1 }),
    ),
  );
const openFiles = () => readdirSync(`/proc/${service.pid}/fd`).map(Number);
/** Leaves room for so many more. The limit is one of numbers: gaps below it count as room, and are seldom at its end. */
function allowMore(files: number): void {
  const open = new Set(openFiles());
  let limit = 0;
  for (let free = 0; free < files; limit++) if (!open.has(limit)) free += 1;
  allow(limit);
}
/** The soft limit, which alone holds: the hard one could not be raised again. */
function allow(files: number): void {
  const { status } = spawnSync('prlimit', ['--pid', String(service.pid), `--nofile=${files}:`]);
  expect(status).toBe(0);
}

/** Calls, when there is no file left for the connection either, as the client sees it. */
const attempt = (tool: string, parameters: Record<string, unknown>): Promise<Answer | null> =>
  call(service, tool, parameters).catch(() => null);

it('a service with few descriptors left deletes many at once or answers with the reason, and goes on', async () => {
  allowMore(SPARE_FILES);
  const deletes = await Promise.all(
    Array.from({ length: SANDBOXES }, (_, number) => attempt('DeleteSandbox', { sandbox: `s${number}` })),
  );
  for (const answer of deletes) {
    if (answer?.status !== 200) expect(['unavailable', 'resource_exhausted']).toContain(answer?.body['code']);
  }
  expect(() => process.kill(service.pid, 0)).not.toThrow();
  allow(4_000);
  for (let number = 0; number < SANDBOXES; number++) {
    const again = await call(service, 'DeleteSandbox', { sandbox: `s${number}` });
    expect([200, 404]).toContain(again.status);
  }
  expect(await tracesOf(service.dataDir)).toEqual(noTraces);
}, 120_000);

it('refuses a creation for which no file is left, and makes it when there is one', async () => {
  let number = 0;
  // Connections of earlier calls may still close, and make room.
  const refused = async () => {
    // One for the connection of the call, and none for its work.
    allowMore(1);
    const answer = await attempt('CreateSandbox', { name: `refused${++number}`, disk_gb: 1 });
    if (answer?.status === 200) return false;
    if (answer !== null) expect(['unavailable', 'resource_exhausted']).toContain(answer.body['code']);
    return true;
  };
  try {
    await expect.poll(refused, { timeout: 20_000 }).toBe(true);
    expect(() => process.kill(service.pid, 0)).not.toThrow();
  } finally {
    allow(4_000);
  }
  const made = async () => (await attempt('CreateSandbox', { name: 'made', disk_gb: 1 }))?.status;
  await expect.poll(made, { timeout: 20_000 }).toBe(200);
}, 60_000);

it('starts again beside its sandboxes with as few', async () => {
  const files = openFiles().length + SPARE_FILES;
  await create('t');
  await service.terminate();
  const machines = (await tracesOf(service.dataDir)).processes;
  const args = [bin, 'up', '--data-dir', service.dataDir, '--warm-pool', '0', ...freeAddresses];
  const child = spawn('prlimit', [`--nofile=${files}:${files}`, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  try {
    await expect.poll(() => said, { timeout: 30_000 }).toMatch(/^ready http/m);
    expect(said).not.toContain('EMFILE');
    expect((await tracesOf(service.dataDir)).processes).toEqual(machines);
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
  }
  await service.restart();
}, 180_000);
