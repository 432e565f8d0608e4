/** The cache of rows: what was read before a write is never given after it. */
import { describe, expect, it } from 'vitest';
import { RowCache } from '../../../../src/store/postgres/cache/row-cache.ts';

interface Value {
  row: string;
  text: string;
}

function newCache(mostBytes = 1_000): RowCache<Value> {
  const cache = new RowCache<Value>({
    mostBytes,
    bytesOf: ({ text }) => text.length,
    rowOf: ({ row }) => row,
  });
  cache.open();
  return cache;
}

const load = (text: string) => async () => ({ row: 'r', text });
const never = async (): Promise<never> => {
  throw new Error('loaded again');
};

describe('a cache of rows', () => {
  it('loads a row once', async () => {
    const cache = newCache();
    expect(await cache.get('a', load('1'))).toEqual({ row: 'r', text: '1' });
    expect(await cache.get('a', never)).toEqual({ row: 'r', text: '1' });
  });

  it('forgets what was read from a row under any key, and nothing else', async () => {
    const cache = newCache();
    await cache.get('by id', load('1'));
    await cache.get('by name', load('1'));
    await cache.get('other', async () => ({ row: 'other', text: '1' }));
    cache.forget('r');
    expect(await cache.get('by id', load('2'))).toMatchObject({ text: '2' });
    expect(await cache.get('by name', load('2'))).toMatchObject({ text: '2' });
    expect(await cache.get('other', never)).toMatchObject({ text: '1' });
  });

  it('does not store what was read before a write that ended first', async () => {
    const cache = newCache();
    const old = Promise.withResolvers<Value>();
    const reading = cache.get('a', () => old.promise);
    cache.forget('r');
    old.resolve({ row: 'r', text: 'old' });
    expect(await reading).toMatchObject({ text: 'old' });
    expect(await cache.get('a', load('new'))).toMatchObject({ text: 'new' });
  });

  it('stores no null, since a row that is made later has no news for it', async () => {
    const cache = newCache();
    expect(await cache.get('a', async () => null)).toBeNull();
    expect(await cache.get('a', load('made'))).toMatchObject({ text: 'made' });
  });

  it('gives nothing stored while its news may be late', async () => {
    const cache = newCache();
    let isCurrent = true;
    cache.open(() => isCurrent);
    await cache.get('a', load('1'));
    isCurrent = false;
    await expect(cache.get('a', never)).rejects.toThrow('loaded again');
    isCurrent = true;
    expect(await cache.get('a', never)).toMatchObject({ text: '1' });
  });

  it('stores nothing while no news arrive', async () => {
    const cache = newCache();
    await cache.get('a', load('1'));
    cache.close();
    expect(await cache.get('a', load('2'))).toMatchObject({ text: '2' });
    expect(await cache.get('a', load('3'))).toMatchObject({ text: '3' });
    cache.open();
    await cache.get('a', load('4'));
    expect(await cache.get('a', never)).toMatchObject({ text: '4' });
  });

  it('does not store what was read from before the news arrived', async () => {
    const cache = newCache();
    cache.close();
    const old = Promise.withResolvers<Value>();
    const reading = cache.get('a', () => old.promise);
    // Another service writes the row now, and nobody hears of it.
    cache.open();
    old.resolve({ row: 'r', text: 'old' });
    expect(await reading).toMatchObject({ text: 'old' });
    expect(await cache.get('a', load('new'))).toMatchObject({ text: 'new' });
  });

  it('keeps so many bytes, the newest', async () => {
    const cache = newCache(10);
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => ({ row: key, text: '12345' }));
    expect(await cache.get('b', never)).toMatchObject({ row: 'b' });
    expect(await cache.get('c', never)).toMatchObject({ row: 'c' });
    expect(await cache.get('a', load('6'))).toMatchObject({ text: '6' });
    await cache.get('too large', async () => ({ row: 'x', text: 'x'.repeat(11) }));
    expect(await cache.get('too large', load('7'))).toMatchObject({ text: '7' });
  });
});
