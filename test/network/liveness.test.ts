/** The lock of an instance, taken while somebody else has it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { declareAlive } from '../../src/runtime/oci/host/liveness.ts';

let holder: ChildProcess;
let folder: string;
let instance: { id: string; runDir: string; dataDir: string };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-liveness-'));
  instance = { id: 'alive0', runDir: join(folder, 'run'), dataDir: folder };
  mkdirSync(join(instance.runDir, 'slots'), { recursive: true });
});

afterEach(() => {
  holder.kill();
  rmSync(folder, { recursive: true });
});

/** Another process that holds the lock for so long; resolves once it has it. */
async function holdFor(ms: number): Promise<void> {
  const source = `
    const lock = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(join(instance.runDir, 'slots/alive'))});
    lock.exec('BEGIN EXCLUSIVE');
    console.log('held');
    setTimeout(() => lock.close(), ${ms});`;
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'ignore'] });
  holder = child;
  await once(child.stdout, 'data');
}

it('one who only asks whether a service runs keeps none from starting', async () => {
  await holdFor(20);
  declareAlive(instance)[Symbol.dispose]();
});

it('a service that runs does', async () => {
  await holdFor(2_000);
  expect(() => declareAlive(instance)).toThrow(
    "A running service has this data directory's instance id, alive0.",
  );
});
