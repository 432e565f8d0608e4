/** The lock of an instance, taken while somebody else has it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { declareAlive, isAlive } from '../../src/runtime/oci/host/liveness.ts';

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

/** Another process that holds a lock for so long; resolves once it has it. */
async function holdFor(ms: number, transaction = 'BEGIN EXCLUSIVE'): Promise<void> {
  const source = `
    const lock = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(join(instance.runDir, 'slots/alive'))});
    lock.exec('${transaction}');
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

it('a service is seen to run, and one who asks is not', async () => {
  await holdFor(2_000);
  expect(isAlive(instance)).toBe(true);
  holder.kill();
  await once(holder, 'exit');
  await holdFor(2_000, 'BEGIN; SELECT count(*) FROM sqlite_schema');
  expect(isAlive(instance)).toBe(false);
});
