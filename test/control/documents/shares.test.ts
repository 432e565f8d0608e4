/** Connections to the document database: one user's queries leave the others theirs. */
import { describe, expect, it } from 'vitest';
import { DocumentService } from '../../../src/control/documents/documents.ts';
import { OrderOfUse } from '../../../src/control/documents/order-of-use.ts';
import type { DocumentDatabase } from '../../../src/control/ports.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Caller } from '../../../src/model/user.ts';

const caller = (id: string) => ({ id, keyId: `key of ${id}` }) as Caller;

describe('queries', () => {
  it('of one user are 6 at once; more wait, and those of others do not', async () => {
    const asked: (() => void)[] = [];
    const database = {
      databases: () => new Promise((resolve) => asked.push(() => resolve([]))),
    } as unknown as DocumentDatabase;
    const files = { info: async () => null, write: async () => null } as never;
    const service = new DocumentService({ database, files, order: new OrderOfUse('advise') });
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
