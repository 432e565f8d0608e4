/** Builds that outlive their request: what is read of them, how they end, and whose share they take. */
import { describe, expect, it } from 'vitest';
import type { PreparedBuild } from '../../../src/control/builds/build.ts';
import { DetachedBuilds } from '../../../src/control/builds/detached.ts';
import type { BuildEvent } from '../../../src/control/builds/progress.ts';
import { invalidArgument } from '../../../src/model/errors.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import type { Caller } from '../../../src/model/user.ts';

const ann = { id: 'user_ann', team: null, keyId: 'key_1' } as unknown as Caller;
const bob = { id: 'user_bob', team: null, keyId: 'key_2' } as unknown as Caller;
const snapshot = { id: 'snap_1' } as Snapshot;
const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;

const step = (line: number): BuildEvent => ({
  ...{ event: 'step', step: line, of: 9, stage: '0', line, text: 'RUN make' },
});
const output = (text: string): BuildEvent => ({ event: 'output', stream: 'stdout', text });

function started() {
  const clock = { time: 1_000, now: () => clock.time };
  const faults: unknown[] = [];
  const ends = new Map<string, () => void>();
  const detached = new DetachedBuilds({
    clock,
    identity: {
      whileValid: ({ keyId }, end) => {
        ends.set(keyId, end);
        return () => ends.delete(keyId);
      },
    },
    log: { error: (_message, context) => faults.push(context?.['error']) },
  });
  async function begun(caller: Caller, name = 'tools') {
    const id = detached.announce(caller, { name });
    const end = Promise.withResolvers<Snapshot>();
    end.promise.catch(() => {});
    let say: (event: BuildEvent) => void = () => {};
    let ending: AbortSignal | undefined;
    let closed = false;
    await detached.begin(caller, id, async (_announced, signal): Promise<PreparedBuild> => {
      ending = signal;
      signal.addEventListener('abort', () => end.reject(signal.reason));
      return {
        run(take) {
          say = (event) => void take(event);
          return end.promise;
        },
        async close() {
          closed = true;
        },
      };
    });
    const over = () => expect.poll(() => closed).toBe(true);
    return { id, end, over, ending: () => ending?.aborted, say: (event: BuildEvent) => say(event) };
  }
  return { clock, detached, begun, faults, ends };
}

describe('a detached build', () => {
  it('waits, builds, and is ready with its snapshot', async () => {
    const { detached, begun, clock } = started();
    const waiting = detached.announce(ann, { name: 'tools' });
    expect(detached.read(ann, waiting, 0)).toMatchObject({ state: 'waiting', events: [], next: 0 });
    const build = await begun(ann);
    build.say(step(1));
    clock.time = 2_000;
    build.say(output('made\n'));
    expect(detached.read(ann, build.id, 0)).toMatchObject({
      ...{ state: 'building', snapshot: null, next: 2 },
      events: [
        { event: 'step', line: 1, at: 1_000 },
        { event: 'output', text: 'made\n', at: 2_000 },
      ],
    });
    expect(detached.read(ann, build.id, 1)).toMatchObject({ events: [{ event: 'output' }], next: 2 });
    expect(detached.read(ann, build.id, 7)).toMatchObject({ events: [], next: 7 });
    build.end.resolve(snapshot);
    await build.over();
    expect(detached.read(ann, build.id, 2)).toMatchObject({ state: 'ready', snapshot: { id: 'snap_1' } });
  });

  it('is read a hundred events at a time', async () => {
    const { detached, begun } = started();
    const build = await begun(ann);
    for (let line = 1; line <= 101; line++) build.say(step(line));
    expect(detached.read(ann, build.id, 0)).toMatchObject({ next: 100, line: 101 });
    expect(detached.read(ann, build.id, 100).events).toMatchObject([{ line: 101 }]);
  });

  it('fails with its error, and the line that it had come to', async () => {
    const { detached, begun } = started();
    const build = await begun(ann);
    build.say(step(3));
    build.end.reject(invalidArgument('file', 'Line 3: no.'));
    await build.over();
    expect(detached.read(ann, build.id, 0)).toMatchObject({
      ...{ state: 'failed', line: 3, error: { code: 'invalid_argument' } },
    });
  });

  it('that fails by a defect says so in the log, once', async () => {
    const { detached, begun, faults } = started();
    const [refused, broken] = [await begun(ann), await begun(ann)];
    refused.end.reject(invalidArgument('file', 'no'));
    broken.end.reject(new Error('broken'));
    await refused.over();
    await broken.over();
    for (const id of [refused.id, broken.id, broken.id]) detached.read(ann, id, 0);
    expect(faults).toEqual([new Error('broken')]);
  });

  it('is waiting as before when it cannot be prepared, and begins once', async () => {
    const { detached, begun } = started();
    const id = detached.announce(ann, { name: 'tools' });
    const refused = detached.begin(ann, id, () => Promise.reject(invalidArgument('file', 'no')));
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(detached.read(ann, id, 0)).toMatchObject({ state: 'waiting' });
    const build = await begun(ann);
    const again = detached.begin(ann, build.id, () => Promise.reject(new Error('never')));
    await expect(again).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('is its owner’s alone', async () => {
    const { detached, begun } = started();
    const build = await begun(ann);
    expect(() => detached.read(bob, build.id, 0)).toThrow(expect.objectContaining({ code: 'not_found' }));
    await expect(detached.remove(bob, build.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(build.ending()).toBe(false);
  });

  it('ends when it is removed, and with the service', async () => {
    const { detached, begun } = started();
    const [one, other] = [await begun(ann), await begun(bob)];
    await detached.remove(ann, one.id);
    expect([one.ending(), other.ending()]).toEqual([true, false]);
    expect(() => detached.read(ann, one.id, 0)).toThrow('There is no build');
    await detached.close();
    expect(other.ending()).toBe(true);
  });

  it('ends with the key that began it, which nothing watches afterwards', async () => {
    const { detached, begun, ends } = started();
    const [hers, his] = [await begun(ann), await begun(bob)];
    ends.get('key_1')?.();
    await hers.over();
    expect(detached.read(ann, hers.id, 0)).toMatchObject({
      ...{ state: 'failed', error: { code: 'unauthenticated' } },
    });
    expect(detached.read(bob, his.id, 0).state).toBe('building');
    his.end.resolve(snapshot);
    await his.over();
    await expect.poll(() => [...ends.keys()]).toEqual([]);
  });

  it('is forgotten an hour after its end, and one that builds is not', async () => {
    const { detached, begun, clock } = started();
    const [ended, running] = [await begun(ann), await begun(ann)];
    ended.end.resolve(snapshot);
    await ended.over();
    clock.time += HOUR_MS;
    expect(detached.read(ann, ended.id, 0)).toMatchObject({ state: 'ready' });
    clock.time += 1;
    expect(() => detached.read(ann, ended.id, 0)).toThrow('There is no build');
    expect(detached.read(ann, running.id, 0)).toMatchObject({ state: 'building' });
  });
});

describe('the share of an owner', () => {
  it('has twenty builds, of which those that ended go first', async () => {
    const { detached, begun } = started();
    const first = await begun(ann);
    for (let count = 1; count < 20; count++) detached.announce(ann, { name: 'more' });
    expect(() => detached.announce(ann, { name: 'more' })).toThrow(
      expect.objectContaining({ code: 'resource_exhausted' }),
    );
    detached.announce(bob, { name: 'other' });
    first.end.resolve(snapshot);
    await first.over();
    detached.announce(ann, { name: 'more' });
    expect(() => detached.read(ann, first.id, 0)).toThrow('There is no build');
  });

  it('is taken by small output too', async () => {
    const { begun, detached } = started();
    const noisy = await begun(ann);
    for (let count = 0; count < 40_000; count++) noisy.say(output('x'));
    expect(detached.read(ann, noisy.id, 32_640).events).toHaveLength(0);
    expect(detached.read(ann, noisy.id, 32_639).events).toHaveLength(1);
  });

  it('has 8 MiB of output, while the log of another goes on', async () => {
    const { detached, begun } = started();
    const [noisy, calm] = [await begun(ann), await begun(bob)];
    for (let count = 0; count < 9; count++) noisy.say(output('x'.repeat(MiB - 256)));
    noisy.say(step(2));
    calm.say(output('here\n'));
    expect(detached.read(ann, noisy.id, 0).events.map(({ event }) => event)).toEqual([
      ...Array(8).fill('output'),
      'step',
    ]);
    expect(detached.read(bob, calm.id, 0).events).toHaveLength(1);
    await detached.remove(ann, noisy.id);
    const next = await begun(ann);
    next.say(output('x'.repeat(MiB)));
    expect(detached.read(ann, next.id, 0).events).toHaveLength(1);
  });
});
