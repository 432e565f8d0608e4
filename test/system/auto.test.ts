import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purge } from '../../src/app/purge.ts';
import { type RunningService, startService } from '../../src/app/service.ts';
import type { CreateRequest } from '../../src/control/lifecycle/creation.ts';
import { createLog } from '../../src/log.ts';
import { onThisHost } from '../../src/model/archive-options.ts';
import type { User } from '../../src/model/user.ts';
import { noTraces, tracesOf } from '../support/host.ts';

const MINUTE = 60_000;
const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-auto-'));
const log = createLog({ write: () => true } as unknown as NodeJS.WritableStream);
const apiKey = 'test-key-for-auto';
/** Time stands still until a test moves it. */
let now = Date.parse('2026-01-01T00:00:00Z');
const clock = { now: () => now };
let service: RunningService;
let caller: User;

const standard: CreateRequest = {
  language: 'python',
  envVars: {},
  autoStopMinutes: 15,
  cpu: 1,
  memory: 1,
  disk: 1,
  gpu: 0,
  labels: {},
  ephemeral: false,
};

async function open(): Promise<void> {
  service = await startService({
    dataDir,
    warmPool: { min: 0, max: 0 },
    auditKeptDays: 0,
    imageKeptMinutes: 60,
    apiKey,
    clock,
    log,
  });
  const user = await service.services.identity.authenticate(apiKey);
  if (!user) throw new Error('the first user is missing');
  caller = user;
}

beforeAll(open, 120_000);

afterAll(async () => {
  await service?.close();
  await purge({ dataDir, store: null, archives: onThisHost, clock, log });
  rmSync(dataDir, { recursive: true, force: true });
});

async function pass(minutes: number): Promise<void> {
  now += minutes * MINUTE;
  await service.scheduler.turn();
}

const stateOf = async (id: string) => (await service.services.sandboxes.get(caller, id)).state;
const make = (request: Partial<CreateRequest> = {}) =>
  service.services.sandboxes.create(caller, { ...standard, ...request });
const remove = (id: string) => service.services.sandboxes.delete(caller, id);

describe('time alone', () => {
  it('[SBX-AUTO-01] [WIRE-AUTO-06] [WIRE-BOX-07] stops a sandbox that was not worked in, and stores the reason', async () => {
    const { id } = await make();
    await pass(14);
    expect(await stateOf(id)).toBe('started');
    await service.services.execution.runCommand(caller, id, { command: 'true', env: {}, timeoutMs: 5_000 });
    await pass(14);
    await service.services.sandboxes.get(caller, id);
    expect(await stateOf(id)).toBe('started');
    await pass(1);
    const stopped = await service.services.sandboxes.get(caller, id);
    expect(stopped.state).toBe('stopped');
    expect(stopped.stateReason).toContain('auto_stop_minutes');
    await remove(id);
  });

  it('[SBX-AUTO-02] never stops one with auto_stop_minutes 0', async () => {
    const { id } = await make({ autoStopMinutes: 0 });
    await pass(100_000);
    expect(await stateOf(id)).toBe('started');
    await remove(id);
  });

  it('[WIRE-AUTO-07] [WIRE-AUTO-08] spares one with a running command, and not one with background processes', async () => {
    const { id } = await make();
    const background = 'nohup sleep 1000 >/dev/null 2>&1 &';
    await service.services.execution.runCommand(caller, id, {
      command: background,
      env: {},
      timeoutMs: 5_000,
    });
    const running = service.services.execution.runCommand(caller, id, {
      command: 'until test -e go; do sleep 0.05; done',
      env: {},
      timeoutMs: 60_000,
    });
    await pass(16);
    expect(await stateOf(id)).toBe('started');
    await service.services.files.write(caller, id, {
      path: 'go',
      content: Buffer.from(''),
      createParents: true,
    });
    await running;
    await pass(16);
    expect(await stateOf(id)).toBe('stopped');
    await remove(id);
  });

  it('[WIRE-AUTO-07] spares one in whose session a command runs, after a restart too', async () => {
    const { id } = await make();
    const { sessions } = service.services;
    await sessions.create(caller, id, { sessionId: 's' });
    const begin = (command: string) => sessions.run(caller, id, { sessionId: 's', command, wait: false });
    await begin('sleep 600');
    await pass(16);
    expect(await stateOf(id)).toBe('started');
    await service.close();
    await open();
    await pass(16);
    expect(await stateOf(id)).toBe('started');
    await remove(id);
  }, 60_000);

  it('[SBX-AUTO-03] [SBX-AUTO-04] archives after auto_archive_minutes; 0 means thirty days', async () => {
    const soon = await make();
    const late = await make();
    await service.services.sandboxes.configure(caller, soon.id, { autoArchiveMinutes: 10 });
    await service.services.sandboxes.configure(caller, late.id, { autoArchiveMinutes: 0 });
    for (const { id } of [soon, late]) await service.services.sandboxes.stop(caller, id);
    await pass(9);
    expect(await stateOf(soon.id)).toBe('stopped');
    await pass(1);
    expect(await stateOf(soon.id)).toBe('archived');
    await pass(43_200 - 11);
    expect(await stateOf(late.id)).toBe('stopped');
    await pass(1);
    expect(await stateOf(late.id)).toBe('archived');
    for (const { id } of [soon, late]) await remove(id);
  }, 60_000);

  it('[SBX-AUTO-05] [SBX-AUTO-07] deletes after auto_delete_minutes, and never at -1', async () => {
    const gone = await make();
    const kept = await make();
    await service.services.sandboxes.configure(caller, gone.id, { autoDeleteMinutes: 5 });
    for (const { id } of [gone, kept]) await service.services.sandboxes.stop(caller, id);
    await pass(5);
    await expect(service.services.sandboxes.get(caller, gone.id)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await stateOf(kept.id)).toBe('stopped');
    await remove(kept.id);
  });

  it('deadlines that passed while the service was down are acted on at its next start', async () => {
    const { id } = await make();
    await service.close();
    now += 16 * MINUTE;
    await open();
    expect(await stateOf(id)).toBe('started');
    await pass(0);
    expect(await stateOf(id)).toBe('stopped');
    await remove(id);
    expect(await tracesOf(dataDir)).toEqual(noTraces);
  });
});
