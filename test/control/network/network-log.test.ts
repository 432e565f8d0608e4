/** The log of what sandboxes with rules reached, and what they were refused. */
import { beforeEach, describe, expect, it } from 'vitest';
import { NetworkLog } from '../../../src/control/network/network-log.ts';
import type { NetworkEvent, NetworkReport } from '../../../src/model/network/traffic.ts';

let now: number;
let log: NetworkLog;
/** Owners of sandboxes that run; each of the others is its own. */
let owners: Record<string, string | null>;

beforeEach(() => {
  now = 1_000;
  owners = {};
  log = newLog();
});

const newLog = () => new NetworkLog({ now: () => now }, (id) => (id in owners ? (owners[id] ?? null) : id));

const event = (sandbox: string, name: string, allowed = true): NetworkEvent => ({
  ...{
    at: now,
    sandbox,
    kind: 'tls',
    name,
    secret: null,
    address: '203.0.113.7',
    port: 443,
    rule: null,
    allowed,
    why: null,
  },
  ...{ sent: 0, received: 0, ended: false },
});
const add = (...reports: NetworkReport[]) => log.add(reports);
const names = (sandbox: string, query: Partial<Parameters<NetworkLog['page']>[1]> = {}) =>
  log.page(sandbox, { limit: 100, ...query }).events.map(({ name }) => name);

describe('a page', () => {
  it('has the newest events, oldest first, and goes on after them', () => {
    add(event('a', '1'), event('a', '2'), event('a', '3'), event('b', 'other'));
    const first = log.page('a', { limit: 2 });
    expect(first).toMatchObject({ events: [{ name: '2' }, { name: '3' }], dropped: 0, hasMore: false });
    add(event('a', '4'));
    expect(log.page('a', { after: first.next, limit: 2 })).toMatchObject({ events: [{ name: '4' }] });
  });

  it('after a sequence is as long as its limit, and says that there is more', () => {
    add(...['1', '2', '3', '4', '5'].map((name) => event('a', name)));
    const { next } = log.page('a', { after: 0, limit: 2 });
    const second = log.page('a', { after: next, limit: 2 });
    expect(second).toMatchObject({ events: [{ name: '3' }, { name: '4' }], hasMore: true, dropped: 0 });
    expect(log.page('a', { after: second.next, limit: 2 })).toMatchObject({
      ...{ events: [{ name: '5' }], hasMore: false },
    });
  });

  it('has only what was refused, for those who ask for it', () => {
    add(event('a', '1'), event('a', '2', false), event('a', '3'));
    const page = log.page('a', { limit: 100, refused: true });
    expect(page).toMatchObject({ events: [{ name: '2' }], dropped: 0 });
    add(event('a', '4'), event('a', '5', false));
    expect(names('a', { after: page.next, refused: true })).toEqual(['5']);
  });

  it('of a sandbox without events is empty', () => {
    expect(log.page('a', { after: 7, limit: 1 })).toEqual({
      events: [],
      dropped: 0,
      next: 7,
      hasMore: false,
    });
  });

  it('counts what was dropped between its events, once', () => {
    add(event('a', '1'), { sandbox: 'a', dropped: 50 }, event('a', '2'));
    const first = log.page('a', { after: 0, limit: 1 });
    expect(first).toMatchObject({ events: [{ name: '1' }], dropped: 0 });
    const second = log.page('a', { after: first.next, limit: 1 });
    expect(second).toMatchObject({ events: [{ name: '2' }], dropped: 50 });
    add({ sandbox: 'a', dropped: 7 });
    expect(log.page('a', { after: second.next, limit: 1 })).toMatchObject({ events: [], dropped: 7 });
  });

  it('counts events that others displaced since its sequence', () => {
    add(event('a', 'first'));
    const { next } = log.page('a', { limit: 1 });
    for (let count = 0; count < 1_200; count++) add(event('a', String(count)));
    expect(log.page('a', { after: next, limit: 1 })).toMatchObject({
      events: [{ name: '200' }],
      dropped: 200,
    });
  });

  it('goes on after a restart with a sequence of before it', () => {
    add(event('a', '1'));
    const { next } = log.page('a', { limit: 1 });
    now += 1_000;
    log = newLog();
    add(event('a', '2'));
    expect(log.page('a', { after: next, limit: 1 })).toMatchObject({ events: [{ name: '2' }], dropped: 0 });
  });
});

describe('the room', () => {
  it('is 1,000 events for a sandbox, and takes nothing from others', () => {
    add(event('b', 'other'));
    for (let count = 0; count < 1_500; count++) add(event('a', String(count)));
    expect(names('a', { limit: 2_000 })).toHaveLength(1_000);
    expect(names('b')).toEqual(['other']);
  });

  it('is 20,000 for all, and those with most of them lose their oldest', () => {
    add(event('quiet', 'kept'));
    for (let sandbox = 0; sandbox < 25; sandbox++)
      for (let count = 0; count < 1_000; count++) add(event(`loud ${sandbox}`, String(count)));
    expect(names('quiet')).toEqual(['kept']);
    const left = Array.from(
      { length: 25 },
      (_, sandbox) => names(`loud ${sandbox}`, { limit: 2_000 }).length,
    );
    expect(left.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(20_000);
    expect(Math.min(...left)).toBeGreaterThan(600);
  });

  it('is shared by owners: one with many sandboxes takes nothing from the others', () => {
    for (let sandbox = 0; sandbox < 400; sandbox++) owners[`loud ${sandbox}`] = 'mallory';
    Object.assign(owners, { 'a 1': 'alice', 'a 2': 'alice', 'b 1': 'bob' });
    for (let count = 0; count < 900; count++) add(event('a 1', String(count)), event('b 1', String(count)));
    add(event('a 2', 'kept'));
    for (let count = 0; count < 200; count++)
      for (let sandbox = 0; sandbox < 400; sandbox++) add(event(`loud ${sandbox}`, String(count)));
    expect(names('a 1', { limit: 1_000 })).toHaveLength(900);
    expect(names('b 1', { limit: 1_000 })).toHaveLength(900);
    expect(names('a 2')).toEqual(['kept']);
    const loud = Array.from({ length: 400 }, (_, at) => names(`loud ${at}`, { limit: 1_000 }).length);
    expect(loud.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(18_199);
    expect(Math.min(...loud)).toBeGreaterThan(35);
  });

  it("stays its owner's when the sandbox is gone", () => {
    owners['kept'] = 'bob';
    for (let count = 0; count < 100; count++) add(event('kept', String(count)));
    for (let sandbox = 0; sandbox < 3_000; sandbox++) {
      owners[`gone ${sandbox}`] = 'mallory';
      for (let count = 0; count < 10; count++) add(event(`gone ${sandbox}`, String(count)));
      owners[`gone ${sandbox}`] = null;
    }
    expect(names('kept')).toHaveLength(100);
    expect(names('gone 2999')).toHaveLength(10);
  });

  it('is taken first from those that were silent for a day', () => {
    add(event('gone', '1'));
    now += 24 * 3_600_000 + 1;
    for (let sandbox = 0; sandbox < 21; sandbox++)
      for (let count = 0; count < 1_000; count++) add(event(`loud ${sandbox}`, String(count)));
    expect(names('gone')).toEqual([]);
  });

  it('is 4,000 logs; of more, the one that is silent longest goes', () => {
    for (let sandbox = 0; sandbox < 4_000; sandbox++) add(event(`s ${sandbox}`, '1'));
    add(event('s 0', '2'), event('new', '1'));
    expect([names('s 0'), names('s 1'), names('s 2')]).toEqual([['1', '2'], [], ['1']]);
  });

  it('of logs is taken from the owner with most of them', () => {
    Object.assign(owners, { first: 'bob', second: 'bob' });
    add(event('first', '1'), event('second', '1'));
    for (let sandbox = 0; sandbox < 5_000; sandbox++) {
      owners[`s ${sandbox}`] = 'mallory';
      add(event(`s ${sandbox}`, '1'));
    }
    expect([names('first'), names('second'), names('s 0')]).toEqual([['1'], ['1'], []]);
  });
});

describe('a follower', () => {
  it('wakes its follower on, however many others there are and however silent it was', () => {
    let woken = 0;
    log.follow('quiet', () => {
      woken += 1;
    });
    for (let index = 0; index < 4_001; index++) add(event(`sb_${index}`, 'x'));
    now += 86_400_001;
    for (let index = 0; index < 20_001; index++) add(event(`sb_${index % 25}`, 'x'));
    expect(woken).toBe(0);
    add(event('quiet', 'x'));
    expect(woken).toBe(1);
  });

  it('is woken by events of its sandbox until it ends', () => {
    let woken = 0;
    const end = log.follow('a', () => woken++);
    add(event('a', '1'), event('a', '2'));
    add(event('b', '1'));
    expect(woken).toBe(1);
    end();
    add(event('a', '3'));
    expect(woken).toBe(1);
  });
});
