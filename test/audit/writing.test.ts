/** How events become rows: in batches, in order, each once; through full disks, kills and age. */

import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { AuditStore } from '../../src/control/ports/index.ts';
import { notFound, SandhavenError } from '../../src/model/errors.ts';
import { openLog, subject, type TestLog } from './log.ts';

const QUEUED_ROWS = 10_000;

const DAY_MS = 24 * 60 * 60 * 1000;
const everything = { filter: {}, after: 0, limit: 1_000 };

async function actionsOf({ audit }: TestLog): Promise<string[]> {
  return (await audit.list(everything, 0)).rows.map(({ action }) => action);
}

describe('a call is noted once', () => {
  it.each([
    ['ok', async () => 'result'],
    ['not_found', async () => Promise.reject(notFound('sandbox', 'There is none.'))],
    ['internal', async () => Promise.reject(new Error('defect'))],
    [
      'invalid_argument',
      () => {
        throw new SandhavenError('invalid_argument', 'at once');
      },
    ],
  ])('as %s, with who, where and how long', async (outcome, work: () => Promise<unknown>) => {
    const log = await openLog();
    await log.audit.call(subject, work).catch(() => {});
    const { rows } = await log.audit.list({ ...everything, after: 1 }, 0);
    expect(rows).toMatchObject([
      {
        ...{ sequence: 2, time: log.time.now, action: 'Sandbox.RunCommand', transport: 'http', outcome },
        ...{
          userId: 'user_1',
          keyId: 'key_1',
          sandboxId: null,
          clientAddress: '127.0.0.1',
          requestId: 'req_1',
        },
        count: null,
      },
    ]);
    expect(rows[0]?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('as cancelled when its client left, whatever it failed with', async () => {
    const log = await openLog();
    const gone = { ...subject, signal: AbortSignal.abort() };
    await log.audit
      .call(gone, async () => Promise.reject(new SandhavenError('unavailable', '')))
      .catch(() => {});
    await log.audit.call(gone, async () => 'done all the same');
    const { rows } = await log.audit.list({ ...everything, after: 1 }, 0);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['cancelled', 'ok']);
  });

  it('gives what the call gave', async () => {
    const { audit } = await openLog();
    expect(await audit.call(subject, async () => 7)).toBe(7);
    const failure = new Error('mine');
    await expect(audit.call(subject, () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

describe('a visit', () => {
  it('is noted when it begins and when it ends', async () => {
    const log = await openLog();
    const ended = log.audit.visit(subject, 'closed', async (begun) => {
      begun();
      expect(await actionsOf(log)).toEqual(['service.start', subject.action]);
    });
    await ended;
    expect(await actionsOf(log)).toEqual(['service.start', subject.action, 'closed']);
  });

  it('is noted once when it never begins', async () => {
    const log = await openLog();
    const refused = log.audit.visit(subject, 'closed', () => Promise.reject(notFound('port', 'None.')));
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    const { rows } = await log.audit.list({ ...everything, after: 1 }, 0);
    expect(rows).toMatchObject([{ action: subject.action, outcome: 'not_found' }]);
  });
});

describe('writing', () => {
  it('is in order and complete, many at once', async () => {
    const log = await openLog();
    const calls = Array.from({ length: 1_234 }, (_, index) =>
      log.audit.call({ ...subject, requestId: `req_${index}` }, async () => {}),
    );
    await Promise.all(calls);
    const ids = [];
    for (let after = 1; ; ) {
      const { rows, next, hasMore } = await log.audit.list({ filter: {}, after, limit: 100 }, 0);
      ids.push(...rows.map(({ requestId }) => requestId));
      if (!hasMore) break;
      after = next;
    }
    expect(ids).toEqual(Array.from({ length: 1_234 }, (_, index) => `req_${index}`));
    expect(await log.audit.verify()).toMatchObject({ intact: true, rowsChecked: 1_235 });
  });

  it('puts many events into few transactions', async () => {
    const append = vi.fn((own: AuditStore, rows: Parameters<AuditStore['append']>[0]) => own.append(rows));
    const log = await openLog({ storeOf: (own) => around(own, (rows) => append(own, rows)) });
    await log.fill(1_000);
    expect(append.mock.calls.length).toBeLessThan(40);
  });

  it('holds up no call when it fails, and catches up', async () => {
    let full = false;
    const log = await openLog({
      storeOf: (own) =>
        around(own, (rows) => (full ? Promise.reject(new Error('disk full')) : own.append(rows))),
    });
    await log.fill(1);
    full = true;
    await log.fill(300);
    expect(log.logged.filter((line) => line === 'the audit log cannot be written')).toHaveLength(1);
    full = false;
    await log.fill(1);
    expect(await log.audit.verify()).toMatchObject({ intact: true, rowsChecked: 303, eventsLost: 0 });
  });

  it('keeps a bounded number of events while it fails, and notes how many it dropped, and where', async () => {
    let full = true;
    const log = await openLog({
      storeOf: (own) =>
        around(own, (rows) => (full ? Promise.reject(new Error('disk full')) : own.append(rows))),
    });
    const dropped = 5;
    // The start is the first event.
    for (let call = 0; call < QUEUED_ROWS - 1 + dropped; call++) {
      await log.audit.call(subject, async () => {});
    }
    full = false;
    await log.fill(0);
    await log.fill(1);
    const report = await log.audit.verify();
    expect(report).toMatchObject({ intact: true, eventsLost: dropped });
    const { rows } = await log.audit.list({ filter: {}, limit: 3 }, 0);
    expect(rows.map(({ action, count }) => [action, count])).toEqual([
      [subject.action, null],
      ['audit.gap', dropped],
      [subject.action, null],
    ]);
  });
});

describe('the service', () => {
  it('writes the rows of calls that its stop waits for, and of those that never end, before its own', async () => {
    const first = await openLog();
    const [ends, stuck] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = first.audit.call({ ...subject, action: 'ends late' }, () => ends.promise);
    const never = first.audit.call({ ...subject, action: 'is stuck' }, () => stuck.promise);
    const closed = first.close();
    ends.resolve();
    await late;
    await closed;
    stuck.resolve();
    await never;
    expect(first.logged).toEqual([]);
    const { audit } = await openLog({ directory: dirname(first.databaseFile) });
    const { rows } = await audit.list({ ...everything, after: 1 }, 0);
    expect(rows.map(({ action, outcome }) => [action, outcome]).slice(0, 3)).toEqual([
      ...[
        ['ends late', 'ok'],
        ['is stuck', 'cancelled'],
        ['service.stop', 'ok'],
      ],
    ]);
  });

  it('notes its start and its stop, so that a start without a stop before it shows a kill', async () => {
    const first = await openLog();
    await first.close();
    const directory = dirname(first.databaseFile);
    const second = await openLog({ directory });
    await second.fill(1);
    await second.abandon();
    const third = await openLog({ directory });
    expect(await actionsOf(third)).toEqual([
      ...['service.start', 'service.stop', 'service.start', subject.action, 'service.start'],
    ]);
    expect(await third.audit.verify()).toMatchObject({ intact: true });
  });
});

describe('old rows', () => {
  it('go, and what is left verifies from where it begins', async () => {
    const log = await openLog({ keptMs: 10 * DAY_MS });
    await log.fill(1_200);
    log.time.now += 6 * DAY_MS;
    await log.fill(3);
    log.time.now += 5 * DAY_MS;
    await log.audit.prune();
    expect(await actionsOf(log)).toEqual([subject.action, subject.action, subject.action, 'audit.prune']);
    expect(await log.audit.verify()).toMatchObject({ intact: true, beginsAfter: 1_201, rowsChecked: 4 });
    const { rows } = await log.audit.list({ filter: {}, limit: 1 }, 0);
    expect(rows).toMatchObject([{ action: 'audit.prune', count: 1_201 }]);
  });

  it('go all, and the chain goes on after a restart', async () => {
    const log = await openLog({ keptMs: DAY_MS });
    await log.fill(5);
    await log.close();
    log.tamper('SELECT 1');
    const time = { now: log.time.now + 3 * DAY_MS };
    const later = await openLog({ directory: dirname(log.databaseFile), keptMs: DAY_MS, time });
    await expect.poll(async () => (await later.audit.verify()).beginsAfter).toBe(7);
    await later.fill(1);
    expect(await later.audit.verify()).toMatchObject({ intact: true });
  });

  it('stay for good when none go', async () => {
    const log = await openLog({ keptMs: 0 });
    await log.fill(3);
    log.time.now += 4_000 * DAY_MS;
    await log.audit.prune();
    expect(await actionsOf(log)).toHaveLength(4);
  });

  it('do not take themselves away by a time that somebody changed', async () => {
    const log = await openLog({ keptMs: 10 * DAY_MS });
    log.time.now += 20 * DAY_MS;
    await log.fill(5);
    log.tamper('UPDATE audit_log SET time = 0');
    await log.audit.prune();
    expect((await log.audit.verify()).faults[0]).toMatchObject({ kind: 'changed' });
    expect(await log.store.read(0, 100)).toHaveLength(6);
    expect(log.logged).toContain('the audit log was changed, so its old rows are kept');
  });

  it('are not removed while the log is verified', async () => {
    const log = await openLog({ keptMs: DAY_MS });
    await log.fill(2_000);
    log.time.now += 2 * DAY_MS;
    const verified = log.audit.verify();
    await log.audit.prune();
    expect(await verified).toMatchObject({ intact: true, rowsChecked: 2_001 });
  });
});

describe('a reader', () => {
  it('finds the last rows, or goes on from a place', async () => {
    const log = await openLog();
    await log.fill(10);
    const last = await log.audit.list({ filter: {}, limit: 3 }, 0);
    expect(last.rows.map(({ sequence }) => sequence)).toEqual([9, 10, 11]);
    expect(last).toMatchObject({ next: 11, hasMore: false });
    await log.fill(2);
    expect((await log.audit.list({ filter: {}, after: last.next, limit: 10 }, 0)).rows).toMatchObject([
      { sequence: 12 },
      { sequence: 13 },
    ]);
  });

  it('finds by time', async () => {
    const log = await openLog();
    const begin = log.time.now;
    for (let minute = 1; minute <= 5; minute++) {
      log.time.now = begin + minute * 60_000;
      await log.fill(1);
    }
    const filter = { since: begin + 120_000, until: begin + 240_000 };
    for (const query of [
      { filter, limit: 10 },
      { filter, limit: 10, after: 0 },
    ]) {
      expect((await log.audit.list(query, 0)).rows.map(({ sequence }) => sequence)).toEqual([3, 4]);
    }
  });

  it('waits for a row, and no longer than it said', async () => {
    const log = await openLog();
    await log.fill(1);
    const waiting = log.audit.list({ filter: { action: 'awaited' }, after: 2, limit: 10 }, 20_000);
    await log.fill(1);
    await log.audit.call({ ...subject, action: 'awaited' }, async () => {});
    expect((await waiting).rows).toMatchObject([{ action: 'awaited' }]);
    expect(await log.audit.list({ filter: { action: 'none' }, limit: 10 }, 50)).toMatchObject({ rows: [] });
  });

  it('stops waiting when it leaves', async () => {
    const log = await openLog();
    const leaving = new AbortController();
    const waiting = log.audit.list({ filter: { action: 'none' }, limit: 1 }, 60_000, leaving.signal);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
  });
});

function around(own: AuditStore, append: AuditStore['append']): AuditStore {
  return {
    append,
    last: () => own.last(),
    read: (after, limit) => own.read(after, limit),
    search: (filter, range, take) => own.search(filter, range, take),
    sequenceAt: (time) => own.sequenceAt(time),
    anchor: () => own.anchor(),
    prune: (anchor) => own.prune(anchor),
  };
}
