/** New rows of the audit log for those who follow it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditPage, AuditQuery } from '../../../src/control/audit/search.ts';
import { AuditEvents } from '../../../src/control/live/audit-events.ts';
import type { AuditRow } from '../../../src/model/audit.ts';
import type { Role } from '../../../src/model/user.ts';

let log: AuditRow[];
let asked: AuditQuery[];
let roles: Record<string, Role>;
let events: AuditEvents;
/** Wakes who waits for a row. */
let wake: () => void;

beforeEach(() => {
  log = [];
  asked = [];
  roles = { ada: 'admin', ben: 'member' };
  wake = () => {};
  events = new AuditEvents({
    audit: { list },
    roleOf: async (id) => roles[id] ?? 'member',
    log: { info() {}, warn() {}, error() {} },
  });
});

afterEach(() => events.close());

async function list(query: AuditQuery, waitMs: number, signal?: AbortSignal): Promise<AuditPage> {
  asked.push(query);
  const { after = Math.max(0, log.length - query.limit) } = query;
  if (waitMs > 0 && log.length <= after) {
    await new Promise<void>((resolve) => {
      wake = resolve;
      signal?.addEventListener('abort', () => resolve());
    });
    signal?.throwIfAborted();
  }
  const rows = log.slice(after, after + query.limit);
  const next = after + rows.length;
  return { rows, next, hasMore: next < log.length };
}

function write(...users: string[]): void {
  for (const userId of users) log.push({ sequence: log.length + 1, userId } as AuditRow);
  wake();
}

async function follow(id: string, role: Role) {
  const got: (number | 'missed')[] = [];
  const follower = {
    rows: (rows: AuditRow[]) => void got.push(...rows.map(({ sequence }) => sequence)),
    rowsMissed: () => void got.push('missed'),
  };
  return { got, end: await events.follow({ id, role }, follower) };
}

describe('who follows', () => {
  it('gets rows from then on: an admin all, a member their own', async () => {
    write('ada');
    const admin = await follow('ada', 'admin');
    const member = await follow('ben', 'member');
    write('ben', 'ada', 'cleo');
    await expect.poll(() => admin.got).toEqual([2, 3, 4]);
    await expect.poll(() => member.got).toEqual([2]);
  });

  it('gets what an admin read inside their sandboxes', async () => {
    const { got } = await follow('ben', 'member');
    log.push({ sequence: 1, userId: 'ada', teamId: 'cleo' } as AuditRow);
    log.push({ sequence: 2, userId: 'ada', teamId: 'ben' } as AuditRow);
    wake();
    await expect.poll(() => got).toEqual([2]);
  });

  it('is no admin any more once the role has changed, nor by a key without the scope', async () => {
    const narrow = await follow('ada', 'member');
    const demoted = await follow('ada', 'admin');
    roles['ada'] = 'member';
    write('ben', 'ada');
    await expect.poll(() => demoted.got).toEqual([2]);
    await expect.poll(() => narrow.got).toEqual([2]);
  });

  it('hears that rows were left out when there are more than 50 at once', async () => {
    const { got } = await follow('ada', 'admin');
    write(...Array(120).fill('ada'));
    await expect.poll(() => got).toHaveLength(51);
    expect(got.slice(-2)).toEqual([50, 'missed']);
    await expect.poll(() => asked.at(-1)).toMatchObject({ after: 120 });
  });
});

describe('the log', () => {
  it('is read while somebody follows, and by one reader', async () => {
    const first = await follow('ada', 'admin');
    const second = await follow('ada', 'admin');
    await expect.poll(() => asked).toHaveLength(2);
    first.end();
    second.end();
    write('ada');
    await events.close();
    expect(asked).toHaveLength(2);
    expect(first.got).toEqual([]);
  });
});
