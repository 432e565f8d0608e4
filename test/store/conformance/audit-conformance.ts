/** What every store does with the rows of the audit log. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditStore, Store } from '../../../src/control/ports/index.ts';
import { type AuditFilter, type AuditRow, serviceEvent } from '../../../src/model/audit.ts';
import { memoryAudit } from '../memory/memory-audit.ts';

/** @param getStore The suite's open store. */
export function auditConformance(name: string, getStore: () => Store): void {
  const audit = () => getStore().audit;

  describe(`${name}: the audit log`, () => {
    it('gives rows back as they were put in, in the order of their sequence', async () => {
      expect(await audit().last()).toBeNull();
      const whole = row(1, {
        ...{ action: 'Sandbox.RunCommand', transport: 'mcp', outcome: 'not_found', durationMs: 12.3 },
        ...{ userId: 'user_1', keyId: 'key_1', sandboxId: 'sb_1', clientAddress: '::1', requestId: 'req_1' },
        ...{ teamId: 'team_1', madeBy: 'user_2' },
      });
      const bare = row(2, { count: 7 });
      await audit().append([whole, bare]);
      await audit().append([row(4), row(3)]);
      expect(await audit().read(0, 2)).toEqual([whole, bare]);
      expect(await audit().read(2, 10)).toEqual([row(3), row(4)]);
      expect(await audit().last()).toEqual({ sequence: 4, hash: row(4).hash });
    });

    it('puts in all of several rows or none', async () => {
      await audit().append([row(1)]);
      await expect(audit().append([row(2), row(1)])).rejects.toMatchObject({ code: 'already_exists' });
      expect(await audit().read(0, 10)).toEqual([row(1)]);
    });

    it('finds as the plainest store does, whatever is asked', async () => {
      const model = memoryAudit().audit;
      const rows = Array.from({ length: 60 }, (_, index) =>
        row(index + 1, {
          action: ['a', 'b', 'c'][index % 3] ?? 'a',
          outcome: index % 4 === 0 ? 'not_found' : 'ok',
          userId: index % 5 === 0 ? null : `user_${index % 2}`,
          keyId: `key_${index % 7}`,
          sandboxId: index % 6 === 0 ? 'sb_1' : null,
          ...(index % 4 === 1 && { teamId: `team_${index % 3}` }),
          ...(index % 7 === 3 && { teamId: 'user_1' }),
        }),
      );
      for (const store of [audit(), model]) await store.append(rows);
      await fc.assert(
        fc.asyncProperty(
          filters,
          fc.nat(70),
          fc.nat(70),
          fc.boolean(),
          fc.integer({ min: 1, max: 20 }),
          same,
        ),
      );
      async function same(
        filter: AuditFilter,
        after: number,
        through: number,
        first: boolean,
        limit: number,
      ) {
        const ask = (store: AuditStore) =>
          store.search(filter, { after, through }, { which: first ? 'first' : 'last', limit });
        expect(await ask(audit())).toEqual(await ask(model));
      }
    });

    it('finds where a time begins', async () => {
      expect(await audit().sequenceAt(0)).toBe(1);
      await audit().append([row(3), row(5), row(9)]);
      for (const [time, sequence] of [
        [0, 3],
        [3_000, 3],
        [3_001, 5],
        [5_000, 5],
        [8_999, 9],
        [9_001, 10],
      ]) {
        expect({ time, sequence: await audit().sequenceAt(time ?? 0) }).toEqual({ time, sequence });
      }
    });

    it('removes the rows through an anchor, and keeps the newest anchor', async () => {
      expect(await audit().anchor()).toBeNull();
      await audit().append([row(1), row(2), row(3)]);
      for (const sequence of [1, 2]) {
        const anchor = { sequence, hash: row(sequence).hash, seal: Buffer.alloc(32, sequence) };
        await audit().prune(anchor);
        expect(await audit().anchor()).toEqual(anchor);
      }
      expect(await audit().read(0, 10)).toEqual([row(3)]);
    });
  });
}

const filters: fc.Arbitrary<AuditFilter> = fc.record(
  {
    action: fc.constantFrom('a', 'b', 'none'),
    exceptAction: fc.constantFrom('a', 'c'),
    outcome: fc.constantFrom('ok', 'not_found'),
    userId: fc.constantFrom('user_0', 'user_1'),
    keyId: fc.constantFrom('key_0', 'key_6'),
    sandboxId: fc.constantFrom('sb_1', 'sb_2'),
    teamId: fc.constantFrom('team_0', 'team_1', 'team_none'),
    since: fc.integer({ min: 0, max: 70_000 }),
    until: fc.integer({ min: 0, max: 70_000 }),
  },
  { requiredKeys: [] },
);

/** One for each second. */
function row(sequence: number, fields: Partial<AuditRow> = {}): AuditRow {
  return {
    ...serviceEvent('service.start'),
    ...{ sequence, time: sequence * 1_000, hash: Buffer.alloc(32, sequence) },
    ...fields,
  };
}
