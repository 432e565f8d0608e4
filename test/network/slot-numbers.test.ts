/** Numbers of slots, which all services of the host share: these tests count them, so that no other service may run. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { currentBootId, freeCount, freeLocks, takeLocks } from '../../src/runtime/oci/host/locks.ts';
import { uidBaseOf } from '../../src/runtime/oci/host/plan.ts';
import { createTestHost } from './harness.ts';

const SLOTS = 16_384;

it('gives no slot whose ids another program’s process has', async () => {
  await using host = await createTestHost();
  const instance = host.start({ poolSize: 0 });
  await instance.init();
  const taken = new Set(readdirSync('/run/sandhaven/slots').map(Number));
  let index = 0;
  while (taken.has(index)) index++;
  const uid = String(uidBaseOf(index) + 1_000);
  const child = spawn('setpriv', [
    '--reuid',
    uid,
    '--clear-groups',
    'sh',
    '-c',
    'echo started; exec sleep 60',
  ]);
  try {
    await once(child.stdout, 'data');
    expect((await instance.acquire('sb_0000000000000001')).index).not.toBe(index);
  } finally {
    child.kill('SIGKILL');
  }
  await instance.purge();
});

it('knows how many numbers are free after each change', () => {
  const instance = { id: 'count0', runDir: '/run/sandhaven-count0', dataDir: '/nowhere' };
  const before = freeCount();
  const taken = takeLocks(instance, 3, 'machine');
  try {
    expect(freeCount()).toBe(before - 3);
    freeLocks([{ index: taken[0] ?? -1, instance, bootId: currentBootId() }]);
    expect(freeCount()).toBe(before - 2);
  } finally {
    freeLocks(taken.map((index) => ({ index, instance, bootId: currentBootId() })));
  }
  expect(freeCount()).toBe(before);
});

it('leaves alone the number that another instance has just locked, and takes it once that is free', () => {
  const instance = { id: 'other0', runDir: '/run/sandhaven-other0', dataDir: '/nowhere' };
  const take = (): number => {
    const [index = -1] = takeLocks(instance, 1, 'machine');
    freeLocks([{ index, instance, bootId: currentBootId() }]);
    return index;
  };
  const index = take();
  const lock = `/run/sandhaven/slots/${index}`;
  writeFileSync(lock, '{}');
  try {
    expect(take()).toBeGreaterThan(index);
  } finally {
    rmSync(lock);
  }
  expect(take()).toBe(index);
});

it('takes the last number that another instance has freed within the same tick of the clock', () => {
  const instance = { id: 'other1', runDir: '/run/sandhaven-other1', dataDir: '/nowhere' };
  const folder = '/run/sandhaven/slots';
  const [index = -1] = takeLocks(instance, 1, 'machine');
  const others = new Set(Array.from({ length: SLOTS }, (_, number) => number));
  others.delete(index);
  // The other takes a number too, so the folder looks as it did before.
  const [from, to] = ['/run/sandhaven/time', `${folder}/x`];
  execFileSync('touch', ['-r', folder, from]);
  renameSync(`${folder}/${index}`, to);
  execFileSync('touch', ['-r', from, folder]);
  try {
    expect(takeLocks(instance, 1, 'machine', others)).toEqual([index]);
  } finally {
    for (const path of [from, to]) rmSync(path);
    freeLocks([{ index, instance, bootId: currentBootId() }]);
  }
});
