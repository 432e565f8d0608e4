/** Archives that come before their build: who may send and read them, how long they stay, and whose share they take. */
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Uploads, type UploadsDependencies } from '../../../src/control/builds/uploads.ts';
import type { Caller } from '../../../src/model/user.ts';
import { memorySpools } from './archives.ts';

const ann = { id: 'user_ann', team: null, keyId: 'key_1' } as unknown as Caller;
const bob = { id: 'user_bob', team: null, keyId: 'key_2' } as unknown as Caller;
const HOUR_MS = 3_600_000;

function started() {
  const clock = { time: 1_000, now: () => clock.time };
  const spools = memorySpools();
  const ends = new Map<string, Set<() => void>>();
  const identity: UploadsDependencies['identity'] = {
    whileValid({ keyId }, end) {
      const own = ends.get(keyId) ?? new Set();
      ends.set(keyId, own.add(end));
      return () => own.delete(end);
    },
  };
  const uploads = new Uploads({ clock, identity, openSpool: spools.open });
  const send = (caller: Caller, name: string, ...pieces: (string | number)[]) =>
    uploads.keep(uploads.expect(caller, name), piecesOf(pieces));
  const read = async (caller: Caller, name: string) => {
    const opened = uploads.open(caller, name);
    const bytes = opened && (await buffer(opened.bytes)).toString();
    opened?.close();
    return bytes;
  };
  return { clock, spools, uploads, send, read, ends };
}

const zeros = Buffer.alloc(1024 * 1024);

/** Texts, and numbers of mebibytes. */
async function* piecesOf(pieces: (string | number)[]) {
  for (const piece of pieces)
    if (typeof piece === 'string') yield Buffer.from(piece);
    else for (let count = 0; count < piece; count++) yield zeros;
}

describe('an upload', () => {
  it('is kept under its name, for its owner, and replaces the one before', async () => {
    const { uploads, send, read, spools } = started();
    expect(uploads.has(ann, 'a')).toBe(false);
    await send(ann, 'a', 'on', 'e');
    expect([uploads.has(ann, 'a'), uploads.has(ann, 'b'), uploads.has(bob, 'a')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await read(ann, 'a'), await read(bob, 'a')]).toEqual(['one', null]);
    await send(ann, 'a', 'two');
    expect([await read(ann, 'a'), await read(ann, 'a'), spools.count]).toEqual(['two', 'two', 1]);
  });

  it('comes once by its address, within an hour', async () => {
    const { uploads, clock } = started();
    const [once, late] = [uploads.expect(ann, 'a'), uploads.expect(ann, 'b')];
    expect(once).toMatch(/^[0-9a-z]{40}$/);
    await uploads.keep(once, piecesOf(['x']));
    clock.time += HOUR_MS + 1;
    for (const ticket of [once, late, 'other'])
      await expect(uploads.keep(ticket, piecesOf(['y']))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that breaks off leaves nothing', async () => {
    const { uploads, spools } = started();
    async function* broken() {
      yield Buffer.from('x');
      throw new Error('broken');
    }
    await expect(uploads.keep(uploads.expect(ann, 'a'), broken())).rejects.toThrow('broken');
    expect([uploads.has(ann, 'a'), spools.count]).toEqual([false, 0]);
  });

  it('goes an hour after it came or was asked for, and after who reads it', async () => {
    const { uploads, send, clock, spools } = started();
    await send(ann, 'a', 'x');
    clock.time += HOUR_MS;
    expect(uploads.has(ann, 'a')).toBe(true);
    const opened = uploads.open(ann, 'a');
    clock.time += HOUR_MS + 1;
    expect([uploads.has(ann, 'a'), spools.count]).toEqual([false, 1]);
    if (!opened) throw new Error('it is not here');
    expect((await buffer(opened.bytes)).toString()).toBe('x');
    opened.close();
    expect(spools.count).toBe(0);
  });
});

describe('an upload in parts', () => {
  it('is what they are in the order of its end, however they came', async () => {
    const { uploads, read, spools } = started();
    const id = await uploads.begin(ann, 'a');
    const [slow, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* slowly() {
      yield Buffer.from('o');
      slow.resolve();
      await gate.promise;
      yield Buffer.from('ne');
    }
    const first = uploads.part(ann, id, 1, slowly());
    await slow.promise;
    await uploads.part(ann, id, 3, piecesOf(['lost']));
    await uploads.part(ann, id, 2, piecesOf([' and ', 'two', 1]));
    await uploads.part(ann, id, 3, piecesOf([' three']));
    gate.resolve();
    await first;
    expect(uploads.has(ann, 'a')).toBe(false);
    uploads.complete(ann, id, [1, 2, 3]);
    const text = await read(ann, 'a');
    expect([text?.slice(0, 11), text?.slice(-7), text?.length]).toEqual([
      'one and two',
      '\0 three',
      1_048_593,
    ]);
    expect(spools.count).toBe(1);
  });

  it("is its owner's, has a thousand of them at most, and ends with those that came alone", async () => {
    const { uploads, read } = started();
    const id = await uploads.begin(ann, 'a');
    await expect(uploads.part(bob, id, 1, piecesOf(['x']))).rejects.toMatchObject({ code: 'not_found' });
    for (const number of [0, 1_001, 1.5, Number.NaN])
      await expect(uploads.part(ann, id, number, piecesOf(['x']))).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    await uploads.part(ann, id, 1_000, piecesOf(['x']));
    expect(() => uploads.complete(ann, id, [1, 1_000])).toThrow(/Part 1 has not come/);
    uploads.complete(ann, id, [1_000, 1_000]);
    expect(await read(ann, 'a')).toBe('x');
  });

  it('that is given up leaves nothing, also while one is coming, and so after an hour', async () => {
    const { uploads, spools, clock } = started();
    const [id, other] = [await uploads.begin(ann, 'a'), await uploads.begin(ann, 'b')];
    const gate = Promise.withResolvers<void>();
    async function* slowly() {
      yield Buffer.from('x');
      await gate.promise;
    }
    const part = uploads.part(ann, id, 1, slowly());
    uploads.abort(bob, id);
    uploads.abort(ann, id);
    expect(spools.count).toBe(2);
    gate.resolve();
    await part;
    expect(() => uploads.complete(ann, id, [1])).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(spools.count).toBe(1);
    clock.time += HOUR_MS + 1;
    uploads.has(ann, 'a');
    expect(() => uploads.complete(ann, other, [])).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(spools.count).toBe(0);
  });

  it('may come for longer than an hour', async () => {
    const { uploads, send, clock, read } = started();
    async function* slowly() {
      yield Buffer.from('sl');
      clock.time += HOUR_MS + 1;
      await send(bob, 'b', 'x');
      yield Buffer.from('ow');
    }
    await uploads.put(ann, 'a', slowly());
    expect(await read(ann, 'a')).toBe('slow');
  });

  it('is expected no more once its key has ended, and no ended one is watched', async () => {
    const { uploads, ends, clock } = started();
    const [address, grant, other] = [uploads.expect(ann, 'a'), uploads.grant(ann), uploads.grant(bob)];
    for (const end of ends.get('key_1') ?? []) end();
    await expect(uploads.keep(address, piecesOf(['x']))).rejects.toMatchObject({ code: 'not_found' });
    expect([uploads.granted(grant), uploads.granted(other)]).toEqual([null, bob]);
    clock.time += HOUR_MS + 1;
    uploads.has(ann, 'a');
    expect([...ends.values()].map(({ size }) => size)).toEqual([0, 0]);
  });

  it('comes by the one grant of a key, for an hour after that was asked for', () => {
    const { uploads, clock } = started();
    const grant = uploads.grant(ann);
    expect([uploads.granted(grant), uploads.granted('other')]).toEqual([ann, null]);
    expect(uploads.granted(uploads.expect(ann, 'a'))).toBeNull();
    clock.time += HOUR_MS;
    expect(uploads.grant(ann)).toBe(grant);
    const others = [bob, { ...ann, keyId: 'key_3' }, { ...ann, team: { id: 'team_1' } } as Caller];
    expect(new Set([grant, ...others.map((caller) => uploads.grant(caller))]).size).toBe(4);
    clock.time += HOUR_MS;
    expect(uploads.granted(grant)).toBe(ann);
    clock.time += 1;
    expect(uploads.granted(grant)).toBeNull();
  });
});

describe('the share of an owner', () => {
  it('has 512 MiB, of which the oldest go first, and those of others stay', async () => {
    const { uploads, send, clock } = started();
    await send(bob, 'his', 'x');
    await send(ann, 'old', 300);
    clock.time += 1;
    await send(ann, 'newer', 100);
    await send(ann, 'newest', 200);
    expect(['old', 'newer', 'newest'].map((name) => uploads.has(ann, name))).toEqual([false, true, true]);
    await expect(send(ann, 'too-large', 300, 300)).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect(uploads.has(bob, 'his')).toBe(true);
  });

  it('is freed of parts that a client left behind, and of none that are coming', async () => {
    const { uploads, send, spools, clock } = started();
    const left = await uploads.begin(ann, 'left');
    await uploads.part(ann, left, 1, piecesOf([400]));
    clock.time += 1;
    await send(ann, 'large', 400);
    expect(() => uploads.complete(ann, left, [1])).toThrow(expect.objectContaining({ code: 'not_found' }));
    const id = await uploads.begin(ann, 'coming');
    const gate = Promise.withResolvers<void>();
    async function* slowly() {
      for (let count = 0; count < 300; count++) yield zeros;
      await gate.promise;
    }
    const part = uploads.part(ann, id, 1, slowly());
    await expect.poll(() => uploads.has(ann, 'large')).toBe(false);
    await expect(send(ann, 'other', 300)).rejects.toMatchObject({ code: 'resource_exhausted' });
    gate.resolve();
    await part;
    uploads.complete(ann, id, [1]);
    expect([uploads.has(ann, 'coming'), spools.count]).toEqual([true, 1]);
  });

  it('is the same for a body that comes a byte at a time', async () => {
    const { uploads, send, read } = started();
    await send(ann, 'large', 512);
    await send(ann, 'bytes', ...Array(10).fill('x'));
    expect([uploads.has(ann, 'large'), await read(ann, 'bytes')]).toEqual([false, 'xxxxxxxxxx']);
  });

  it('has fifty archives, and fifty addresses', async () => {
    const { uploads, send } = started();
    for (let count = 0; count < 51; count++) await send(ann, `a${count}`, 'x');
    expect([uploads.has(ann, 'a0'), uploads.has(ann, 'a50')]).toEqual([false, true]);
    for (let count = 0; count < 50; count++) uploads.expect(ann, 'b');
    expect(() => uploads.expect(ann, 'b')).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));
    uploads.expect(bob, 'b');
  });
});
