/** Whatever is done to the log behind the service's back shows, and where. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AuditChain } from '../../src/control/audit/chain.ts';
import { Verification } from '../../src/control/audit/verification.ts';
import { type AuditRow, serviceEvent } from '../../src/model/audit.ts';
import { openLog, type TestLog } from './log.ts';

/** The first row is the service's start. */
const CALLS = 20;
const ROWS = CALLS + 1;

async function filled(): Promise<TestLog> {
  const log = await openLog();
  await log.fill(CALLS);
  return log;
}

it('a log that nobody touched is intact', async () => {
  const { audit } = await filled();
  expect(await audit.verify()).toMatchObject({
    ...{ intact: true, rowsChecked: ROWS, beginsAfter: 0, eventsLost: 0, faultCount: 0, faults: [] },
    end: { sequence: ROWS },
  });
});

describe('a row whose field is changed shows', () => {
  const changes: [column: string, value: string][] = [
    ['time', 'time + 1'],
    ['action', "'Sandbox.GetSandbox'"],
    ['transport', "'mcp'"],
    ['outcome', "'not_found'"],
    ['duration_ms', 'duration_ms + 1'],
    ['user_id', "'user_2'"],
    ['user_id', 'NULL'],
    ['key_id', "'key_2'"],
    ['sandbox_id', "'sb_1'"],
    ['client_address', "'::1'"],
    ['request_id', "''"],
    ['count', '0'],
    ['hash', 'zeroblob(32)'],
  ];
  it.each(changes)('%s to %s', async (column, value) => {
    const log = await filled();
    log.tamper(`UPDATE audit_log SET ${column} = ${value} WHERE sequence = 7`);
    expect((await log.audit.verify()).faults[0]).toEqual({ kind: 'changed', sequence: 7, through: 7 });
  });

  it('shows a team that was put into a row', async () => {
    const log = await filled();
    log.tamper(`UPDATE audit_log SET team_id = 'team_1' WHERE sequence = 7`);
    expect((await log.audit.verify()).faults[0]).toEqual({ kind: 'changed', sequence: 7, through: 7 });
  });

  it('covers every column', async () => {
    const { store } = await filled();
    const [row] = await store.read(0, 1);
    const names = Object.keys(row ?? {}).map((name) =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    expect([...new Set(['sequence', ...changes.map(([column]) => column)])].sort()).toEqual(names.sort());
  });
});

describe('rows that were', () => {
  const cases: [what: string, sql: string, fault: object][] = [
    [
      'taken from the middle',
      'DELETE FROM audit_log WHERE sequence IN (5, 6)',
      { kind: 'missing', sequence: 5, through: 6 },
    ],
    [
      'taken from the beginning',
      'DELETE FROM audit_log WHERE sequence < 4',
      { kind: 'missing', sequence: 1, through: 3 },
    ],
    [
      'cut off at the end',
      'DELETE FROM audit_log WHERE sequence > 15',
      { kind: 'missing', sequence: 16, through: ROWS },
    ],
    ['all removed', 'DELETE FROM audit_log', { kind: 'missing', sequence: 1, through: ROWS }],
    [
      'swapped',
      `UPDATE audit_log SET sequence = -1 WHERE sequence = 8; UPDATE audit_log SET sequence = 8 WHERE sequence = 9;
       UPDATE audit_log SET sequence = 9 WHERE sequence = -1;`,
      { kind: 'changed', sequence: 8, through: 8 },
    ],
    [
      'taken out, with those behind it moved up',
      `DELETE FROM audit_log WHERE sequence = 5;
       UPDATE audit_log SET sequence = sequence - 1 WHERE sequence > 5;`,
      { kind: 'changed', sequence: 5, through: 5 },
    ],
    [
      'put in, with those behind it moved down',
      `UPDATE audit_log SET sequence = -sequence - 1 WHERE sequence > 5;
       UPDATE audit_log SET sequence = -sequence WHERE sequence < 0;
       INSERT INTO audit_log SELECT 6, time, action, transport, outcome, duration_ms, user_id, key_id, sandbox_id,
         client_address, request_id, count, hash, team_id, made_by FROM audit_log WHERE sequence = 5;`,
      { kind: 'changed', sequence: 6, through: 6 },
    ],
    [
      'taken from the beginning under a forged anchor',
      `INSERT INTO audit_anchor SELECT 1, sequence, hash, hash FROM audit_log WHERE sequence = 3;
       DELETE FROM audit_log WHERE sequence < 4;`,
      { kind: 'missing', sequence: 1, through: 3 },
    ],
  ];
  it.each(cases)('%s show', async (_what, sql, fault) => {
    const log = await filled();
    log.tamper(sql);
    const report = await log.audit.verify();
    expect(report.intact).toBe(false);
    expect(report.faults[0]).toEqual(fault);
  });

  it.each(cases)('%s show after a restart too', async (_what, sql, fault) => {
    const log = await filled();
    await log.close();
    log.tamper(sql);
    const again = await openLog({ directory: dirname(log.databaseFile) });
    await again.fill(3);
    // The stop was the last row before.
    const cut = sql.includes('> 15') || sql === 'DELETE FROM audit_log';
    expect((await again.audit.verify()).faults[0]).toEqual(cut ? { ...fault, through: ROWS + 1 } : fault);
  });

  it('added at the end, while the service runs, show, and what it writes goes on behind them', async () => {
    const log = await filled();
    log.tamper(`INSERT INTO audit_log SELECT ${ROWS + 1}, time, action, transport, outcome, duration_ms, user_id, key_id,
      sandbox_id, client_address, request_id, count, hash, team_id, made_by FROM audit_log WHERE sequence = ${ROWS}`);
    await log.fill(2);
    const report = await log.audit.verify();
    expect(report.faults).toEqual([{ kind: 'changed', sequence: ROWS + 1, through: ROWS + 1 }]);
    expect(report.end.sequence).toBe(ROWS + 3);
    expect(log.logged).toContain('the audit log has rows that this service did not write');
  });

  it('cut off, checkpoint and all, show by the missing checkpoint, for good', async () => {
    const log = await filled();
    await log.close();
    log.tamper('DELETE FROM audit_log WHERE sequence > 15');
    rmSync(log.checkpointFile);
    const again = await openLog({ directory: dirname(log.databaseFile) });
    await again.close();
    const later = await openLog({ directory: dirname(log.databaseFile) });
    expect((await later.audit.verify()).faults).toEqual([{ kind: 'unanchored', sequence: 16, through: 16 }]);
  });

  it.each([
    ['a lower one', (text: string) => text.replace(/"sequence":\d+/, '"sequence":15')],
    ['no JSON', () => 'x'],
    ['nothing', () => ''],
  ])('cut off behind a checkpoint changed to %s show', async (_what, change) => {
    const log = await filled();
    await log.close();
    log.tamper('DELETE FROM audit_log WHERE sequence > 15');
    writeFileSync(log.checkpointFile, change(readFileSync(log.checkpointFile, 'utf8')));
    const again = await openLog({ directory: dirname(log.databaseFile) });
    await again.fill(1);
    expect((await again.audit.verify()).faults).toEqual([{ kind: 'unanchored', sequence: 16, through: 16 }]);
  });

  it('put back as a whole show only by an end that was kept elsewhere', async () => {
    const log = await filled();
    await log.close();
    const kept = [log.databaseFile, log.checkpointFile];
    for (const file of kept) copyFileSync(file, `${file}.old`);
    const directory = dirname(log.databaseFile);
    const second = await openLog({ directory });
    await second.fill(5);
    const { end } = await second.audit.verify();
    await second.close();
    for (const file of kept) copyFileSync(`${file}.old`, file);
    const third = await openLog({ directory });
    const report = await third.audit.verify();
    expect(report.intact).toBe(true);
    expect(report.end.sequence).toBeLessThan(end.sequence);
  });
});

it('one key makes one chain: another key verifies none of it', async () => {
  const { store } = await filled();
  const chain = new AuditChain(Buffer.alloc(32, 8));
  const walk = new Verification(chain, chain.origin);
  for (const row of await store.read(0, 100)) walk.take(row);
  expect(walk.faultCount).toBe(ROWS);
  expect(walk.faults).toHaveLength(20);
});

describe('a chain of any rows', () => {
  const chain = new AuditChain(Buffer.alloc(32, 1));
  const text = fc.option(fc.string({ unit: 'binary', maxLength: 12 }));
  const event = fc.record({
    ...{
      action: fc.string(),
      durationMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
      time: fc.nat(),
    },
    ...{ userId: text, keyId: text, sandboxId: text, clientAddress: text, requestId: text },
    count: fc.option(fc.nat()),
  });
  const chained = fc.array(event, { minLength: 2, maxLength: 12 }).map((events) => {
    let end = chain.origin;
    return events.map((fields): AuditRow => {
      const row = chain.link(end, { ...serviceEvent(''), ...fields });
      end = row;
      return row;
    });
  });

  const faultsOf = (rows: AuditRow[], length = rows.length) => {
    const walk = new Verification(chain, chain.origin);
    for (const row of rows) walk.take(row);
    walk.finish({ sequence: length, hash: Buffer.alloc(32) });
    return walk.faultCount;
  };

  it('verifies', () => {
    fc.assert(
      fc.property(chained, (rows) => {
        expect(faultsOf(rows)).toBe(0);
      }),
    );
  });

  it('does not once one row has a field of another', () => {
    fc.assert(
      fc.property(
        chained,
        fc.nat(),
        fc.nat(),
        fc.constantFrom('time', 'action', 'userId', 'keyId', 'hash'),
        (rows, to, from, field) => {
          const target = rows[to % rows.length];
          const source = rows[from % rows.length];
          fc.pre(target !== undefined && source !== undefined);
          const value = source[field as keyof AuditRow];
          fc.pre(String(target[field as keyof AuditRow]) !== String(value));
          const changed = rows.map((row) => (row === target ? { ...row, [field]: value } : row));
          expect(faultsOf(changed)).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('does not once one row is gone, wherever it was', () => {
    fc.assert(
      fc.property(chained, fc.nat(), (rows, at) => {
        const left = rows.filter((_, index) => index !== at % rows.length);
        expect(faultsOf(left, rows.length)).toBeGreaterThan(0);
      }),
    );
  });
});
