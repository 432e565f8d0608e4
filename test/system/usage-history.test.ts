/** History of use of a real sandbox: its figures, and the name of what the kernel killed in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { purge } from '../../src/app/purge.ts';
import { startService } from '../../src/app/service.ts';
import { onThisHost } from '../../src/model/archive-options.ts';

const silent = { info() {}, warn() {}, error() {} };

it('has what it used, and the program that exhausted its memory', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-history-'));
  let now = Date.parse('2026-01-01T00:00:00Z');
  const apiKey = 'test-key-for-history';
  const clock = { now: () => now };
  const service = await startService({
    ...{ dataDir, warmPool: { min: 0, max: 0 }, auditKeptDays: 0, imageKeptMinutes: 60 },
    ...{ apiKey, clock, log: silent },
  });
  try {
    const caller = await service.services.identity.authenticate(apiKey);
    if (!caller) throw new Error('the first user is missing');
    const { sandboxes, execution, usageHistory } = service.services;
    const { id } = await sandboxes.create(caller, {
      ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
      ...{ cpu: 1, memory: 1, disk: 1, gpu: 0 },
    });
    const sample = async () => {
      now += 10_000;
      await usageHistory.turn();
    };
    await sample();
    const command = `python3 -c 'hog = bytearray(3 * 1024 ** 3)'`;
    const { exitCode } = await execution.runCommand(caller, id, { command, env: {}, timeoutMs: 60_000 });
    expect(exitCode).not.toBe(0);
    await sample();
    const { samples, outOfMemory } = await usageHistory.of(caller, id);
    expect(samples).toHaveLength(2);
    expect(samples[1]).toMatchObject({ cores: expect.any(Number), memoryBytes: expect.any(Number) });
    expect(outOfMemory).toEqual([{ at: now, killed: 1, process: 'python3' }]);
  } finally {
    await service.close();
    await purge({ dataDir, store: null, archives: onThisHost, clock, log: silent });
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);
