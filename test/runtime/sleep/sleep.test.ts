/** Sleep of machines: over folders of the test, with a kernel that is pretended. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFreezer } from '../../../src/runtime/oci/machine/freezer.ts';
import { createSleep, type Sleep } from '../../../src/runtime/oci/machine/sleep.ts';

const id = 'sb_0123456789abcdef';
let folder: string;
let frozen: Set<string>;
let sleep: Sleep;
let changes: string[];

function open(): void {
  const freezer = createFreezer({
    async setFrozen(name, wanted) {
      if (wanted) frozen.add(name);
      else frozen.delete(name);
    },
  });
  sleep = createSleep(freezer, { state: (name) => join(folder, name) });
  sleep.onChange((name) => changes.push(name));
}

const note = () => join(folder, id, 'asleep');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-sleep-'));
  mkdirSync(join(folder, id));
  frozen = new Set();
  changes = [];
  open();
});

afterEach(() => rmSync(folder, { recursive: true }));

it('a machine sleeps from the call on, is frozen with a note of the time, and wakes without either', async () => {
  const begun = sleep.begin(id, 1_000);
  expect(sleep.since(id)).toBe(1_000);
  await begun;
  expect([...frozen]).toEqual([id]);
  expect(readFileSync(note(), 'utf8')).toBe('1000');
  await sleep.begin(id, 2_000);
  expect(sleep.since(id)).toBe(1_000);
  await sleep.wake(id);
  expect([frozen.size, existsSync(note()), sleep.since(id)]).toEqual([0, false, null]);
  await sleep.wake(id);
  expect(changes).toEqual([id, id]);
});

it('one that is woken while it falls asleep runs', async () => {
  await Promise.all([sleep.begin(id, 1_000), sleep.wake(id)]);
  expect([frozen.size, existsSync(note()), sleep.since(id)]).toEqual([0, false, null]);
});

it('one that does not run cannot sleep', async () => {
  rmSync(join(folder, id), { recursive: true });
  await expect(sleep.begin(id, 1_000)).rejects.toMatchObject({ code: 'unavailable' });
  expect(sleep.since(id)).toBeNull();
  mkdirSync(join(folder, id));
});

it('the next service lets those sleep that have a note, whether they were frozen or not yet', async () => {
  writeFileSync(note(), '1000');
  await sleep.recover([id, 'sb_other']);
  expect(sleep.since(id)).toBe(1_000);
  expect([...frozen]).toEqual([id]);
  await sleep.wake(id);
  expect(existsSync(note())).toBe(false);
});

it('those who wait for a machine to be awake go on when it wakes, when it is gone, and at their signal', async () => {
  const never = new AbortController();
  await sleep.awake(id, never.signal);
  for (const end of [() => sleep.wake(id), () => sleep.forget(id)]) {
    await sleep.begin(id, 1_000);
    const waiting = sleep.awake(id, never.signal);
    await end();
    await waiting;
  }
  await sleep.begin(id, 1_000);
  const leaving = new AbortController();
  const waiting = sleep.awake(id, leaving.signal);
  leaving.abort();
  await waiting;
  expect(sleep.since(id)).toBe(1_000);
});

it('open channels end with the reason where that is asked for, and stay open else', async () => {
  const channel = sleep.opened(id, new PassThrough());
  const errors: Error[] = [];
  channel.on('error', (error) => errors.push(error));
  await sleep.begin(id, 1_000);
  expect(channel.destroyed).toBe(false);
  await sleep.begin(id, 1_000, { closesChannels: true });
  expect(channel.destroyed).toBe(true);
  await expect.poll(() => errors).toMatchObject([{ code: 'unavailable' }]);
});
