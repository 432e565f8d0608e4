/** Connections to the document database: one user's queries leave the others theirs. */
import { describe, expect, it } from 'vitest';
import { DocumentService } from '../../../src/control/documents/documents.ts';
import { OrderOfUse } from '../../../src/control/documents/order-of-use.ts';
import type { DocumentDatabase } from '../../../src/control/ports/index.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Caller } from '../../../src/model/user.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';

const caller = (id: string) => ({ id, keyId: `key of ${id}` }) as Caller;

describe('queries that are long', () => {
  it('are read one at a time, and short ones at once', async () => {
    const read: string[] = [];
    const database = {
      count: ({ filter }: { filter: string }) => {
        read.push(filter.trim());
        const end = performance.now() + 30;
        while (filter.length > 4_096 && performance.now() < end);
        return { sources: [], run: async () => ({ count: 0, notes: [] }) };
      },
    } as unknown as DocumentDatabase;
    const service = new DocumentService({
      database,
      files: {} as never,
      order: new OrderOfUse('advise', createAlone()),
    });
    const count = (id: string, name: string, chars: number) =>
      service.count(caller(id), { database: 'd', collection: 'c', filter: `"${name}"`.padEnd(chars) }, {});
    const first = count('mallory', 'long 1', 4_097);
    const all = [count('mallory', 'long 2', 4_097), count('alice', 'long 3', 4_097)];
    await first;
    await count('bob', 'short', 4_096);
    expect(read).toEqual(['"long 1"', '"short"']);
    await Promise.all(all);
    expect(read).toEqual(['"long 1"', '"short"', '"long 2"', '"long 3"']);
  });
});

describe('queries', () => {
  it('of one user are 6 at once; more wait, and those of others do not', async () => {
    const asked: (() => void)[] = [];
    const database = {
      databases: () => new Promise((resolve) => asked.push(() => resolve([]))),
    } as unknown as DocumentDatabase;
    const files = { info: async () => null, write: async () => null } as never;
    const service = new DocumentService({ database, files, order: new OrderOfUse('advise', createAlone()) });
    const all = Array.from({ length: 8 }, () => service.databases(caller('mallory'), {}));
    await expect.poll(() => asked.length).toBe(6);
    const besides = service.databases(caller('alice'), {});
    await expect.poll(() => asked.length).toBe(7);
    asked[0]?.();
    await expect.poll(() => asked.length).toBe(8);
    asked[6]?.();
    expect(await besides).toEqual([]);
    for (const answer of asked) answer();
    await expect.poll(() => asked.length).toBe(9);
    asked[8]?.();
    await Promise.all(all);
  });

  it('of all users are as many as there are connections', () => {
    const { total, perOwner } = limits.shares.queries;
    expect([total, perOwner]).toEqual([20, 6]);
  });
});
