/** Delivery in simulated time: what is tried again and when, what is given up, and that owners do not wait for each other. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Deliverer } from '../../../src/control/live/deliverer.ts';
import { WebhookService } from '../../../src/control/live/webhooks.ts';
import type { Answer, Store } from '../../../src/control/ports/index.ts';
import { Shares } from '../../../src/fairness/shares.ts';
import type { Caller } from '../../../src/model/user.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

interface Sent {
  url: string;
  id: string;
  at: number;
}

const HOUR = 3_600_000;
const log = { info() {}, warn() {}, error() {} };
const callerOf = (account: typeof alice): Caller => ({
  ...account,
  ...{ keyId: 'key_1', keyExpiresAt: null, scopes: null },
});
const [ada, ben] = [callerOf(alice), callerOf(bob)];

let store: Store;
let now: number;
let sent: Sent[];
let answer: (url: string, signal: AbortSignal) => Promise<Answer>;
let mine: (id: string) => boolean;
let service: WebhookService;
let deliverer: Deliverer;
/** Time of the last refusal: two within a minute are one event. */
let refused = 0;

const status = (status: number, retryAfter: string | null = null) => ({ status, retryAfter });

beforeEach(async () => {
  store = memoryStore();
  await store.users.insertUser(alice);
  await store.users.insertUser(bob);
  now = 1_000_000;
  sent = [];
  answer = async () => status(204);
  mine = () => true;
  const parts = {
    ...{ store: store.webhooks, log, allowed: [], clock: { now: () => now } },
    places: new Shares({ total: 32, perOwner: 4, what: 'events are being delivered' }),
    sender: {
      send: async ({
        url,
        headers,
        signal,
      }: {
        url: string;
        headers: Record<string, string>;
        signal: AbortSignal;
      }) => {
        sent.push({ url, id: headers['webhook-id'] ?? '', at: now });
        return answer(url, signal);
      },
    },
  };
  service = new WebhookService(parts);
  deliverer = new Deliverer({ ...parts, replicas: { isMine: (id) => mine(id) } });
});

const create = async (caller = ada, url = 'https://receiver.example/') =>
  (await service.create(caller, { url, events: ['quota.refused'], everybody: false })).webhook;
const refuse = async (caller: Caller, count = 1) => {
  for (let n = 0; n < count; n++) {
    refused += 60_000;
    await store.webhooks.refused(caller.id, 'cpu', refused);
  }
};
/** Turns until nothing is in flight. */
const deliver = async () => {
  await deliverer.turn();
  await deliverer.idle();
};
const shown = async (id: string) => (await store.webhooks.get(id)) ?? {};
const latest = async (id: string) => (await store.webhooks.deliveries(id))[0];

describe('an event', () => {
  it('is sent once when the receiver takes it', async () => {
    const { id } = await create();
    await refuse(ada);
    await deliver();
    await deliver();
    expect(sent).toHaveLength(1);
    expect(await latest(id)).toMatchObject({ state: 'delivered', status: 204, attempts: 1 });
    expect(await shown(id)).toMatchObject({ lastStatus: 204, lastError: null, queued: 0 });
  });

  it('is tried again under its id, after growing pauses, until it is taken', async () => {
    const { id } = await create();
    await refuse(ada);
    answer = async () => status(500);
    for (let ms = 0; ms < 10 * 60_000; ms += 1_000) {
      await deliver();
      now += 1_000;
    }
    expect(new Set(sent.map((one) => one.id)).size).toBe(1);
    expect(sent).toHaveLength(5);
    const pauses = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
    for (const [index, most] of [6_000, 24_000, 96_000, 384_000].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual((most / 1.2) * 0.8);
      expect(pauses[index]).toBeLessThanOrEqual(most + 1_000);
    }
    expect(await shown(id)).toMatchObject({ lastStatus: 500, lastError: 'status 500', queued: 1 });
    answer = async () => status(200);
    now += 6 * HOUR;
    await deliver();
    expect(await latest(id)).toMatchObject({ state: 'delivered', attempts: 6 });
    expect(await shown(id)).toMatchObject({ failingSince: null });
  });

  it('waits for as long as the receiver asks for', async () => {
    const { id } = await create();
    await refuse(ada);
    answer = async () => status(429, '3600');
    await deliver();
    expect((await latest(id))?.nextAttemptAt).toBe(1_000_000 + HOUR);
  });

  it.each([
    [{ error: 'refused' } as const, 'refused', null],
    [{ error: 'no answer' } as const, 'no answer', null],
    [status(301), 'status 301', 301],
  ])('that ends with %j is tried again', async (given, error, code) => {
    const { id } = await create();
    await refuse(ada);
    answer = async () => given;
    await deliver();
    expect(await latest(id)).toMatchObject({ state: 'pending', error, status: code });
  });

  it('is due again when its taker is stopped in the middle', async () => {
    const { id } = await create();
    await refuse(ada);
    answer = (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ error: 'no answer' })));
    await deliverer.turn();
    await deliverer.close();
    expect(await latest(id)).toMatchObject({ state: 'pending', error: null, attempts: 1 });
    expect(await store.webhooks.due(now + 29_999)).toEqual([]);
    expect(await store.webhooks.due(now + 30_000)).toHaveLength(1);
  });

  it('is left to the replica that has the webhook', async () => {
    await create();
    await refuse(ada);
    mine = () => false;
    await deliver();
    expect(sent).toEqual([]);
  });
});

describe('a webhook', () => {
  it('is disabled after three days of failures, in words for its owner, and starts anew when it is enabled', async () => {
    const { id } = await create();
    await refuse(ada);
    answer = async () => ({ error: 'no answer' });
    for (let hour = 0; hour < 80; hour++) {
      await deliver();
      now += HOUR;
    }
    expect(await shown(id)).toMatchObject({
      ...{ disabledReason: 'No event was delivered for three days.', lastError: 'no answer', queued: 0 },
    });
    expect(await latest(id)).toMatchObject({ state: 'failed' });
    const attempts = sent.length;
    await refuse(ada);
    await deliver();
    expect(sent).toHaveLength(attempts);
    answer = async () => status(200);
    await service.update(ada, id, { disabled: false });
    await refuse(ada);
    await deliver();
    expect(await shown(id)).toMatchObject({ disabledReason: null, failingSince: null, lastStatus: 200 });
  });

  it('is disabled at once when the receiver is gone', async () => {
    const { id } = await create();
    await refuse(ada, 3);
    answer = async () => status(410);
    await deliver();
    expect(await shown(id)).toMatchObject({
      ...{ disabledReason: 'The receiver answered 410: it is gone for good.', lastStatus: 410, queued: 0 },
    });
  });

  it('whose queue is full loses the oldest events, and shows how many', async () => {
    const { id } = await create();
    await refuse(ada, 1_010);
    answer = (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ error: 'no answer' })));
    await deliverer.turn();
    expect(await shown(id)).toMatchObject({ queued: 1_000, dropped: 10 });
    await deliverer.close();
  });
});

describe('a receiver that never answers', () => {
  it('holds four attempts of its owner, and delays no event of the others', async () => {
    await create(ada, 'https://slow.example/');
    const { id } = await create(ben, 'https://quick.example/');
    answer = (url, signal) =>
      url === 'https://quick.example/'
        ? Promise.resolve(status(200))
        : new Promise((resolve) => signal.addEventListener('abort', () => resolve({ error: 'no answer' })));
    await refuse(ada, 50);
    await refuse(ben, 50);
    const of = (url: string) => sent.filter((one) => one.url === url).length;
    await deliverer.turn();
    await expect.poll(() => of('https://quick.example/')).toBe(50);
    await expect.poll(async () => (await store.webhooks.get(id))?.queued).toBe(0);
    expect(of('https://slow.example/')).toBe(4);
    await deliverer.close();
  });
});

describe('a test', () => {
  it('is sent at once, also to a disabled webhook, and is not tried again', async () => {
    const { id } = await create();
    await service.update(ada, id, { disabled: true });
    answer = async () => status(404);
    expect(await service.test(ada, id)).toMatchObject({
      ...{ type: 'webhook.test', state: 'failed', status: 404, error: 'status 404', nextAttemptAt: null },
    });
    now += HOUR;
    await deliver();
    expect(sent).toHaveLength(1);
  });

  it('takes a place among the attempts of its owner', async () => {
    const { id } = await create();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    answer = () => promise;
    const tests = [1, 2, 3, 4].map(() => service.test(ada, id));
    await expect.poll(() => sent.length).toBe(4);
    await expect(service.test(ada, id)).rejects.toMatchObject({ code: 'resource_exhausted' });
    resolve(status(200));
    expect((await Promise.all(tests)).map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
  });
});

describe('an event that is over', () => {
  it('is delivered once more under its id', async () => {
    const { id } = await create();
    await refuse(ada);
    await deliver();
    const delivery = await latest(id);
    await service.redeliver(ada, id, delivery?.id ?? '');
    await deliver();
    expect(sent.map((one) => one.id)).toEqual([delivery?.id, delivery?.id]);
    await expect(service.redeliver(ada, id, 'msg_none')).rejects.toMatchObject({ code: 'not_found' });
    await service.update(ada, id, { disabled: true });
    const again = service.redeliver(ada, id, delivery?.id ?? '');
    await expect(again).rejects.toMatchObject({ code: 'invalid_state' });
  });
});

describe('a caller', () => {
  it('finds webhooks of others as little as those that are not there', async () => {
    const { id } = await create();
    for (const call of [
      () => service.update(ben, id, { disabled: true }),
      () => service.rotate(ben, id),
      () => service.remove(ben, id),
      () => service.test(ben, id),
      () => service.deliveries(ben, id),
      () => service.redeliver(ben, id, 'msg_1'),
    ]) {
      await expect(call()).rejects.toMatchObject({
        ...{ code: 'not_found', message: `There is no webhook '${id}'.` },
      });
    }
    expect(await service.list(ben, false)).toEqual([]);
  });

  it('makes one for everybody as an admin alone, and other admins manage it', async () => {
    const request = { url: 'https://receiver.example/', events: undefined, everybody: true };
    await expect(service.create(ben, request)).rejects.toMatchObject({ code: 'permission_denied' });
    await expect(service.list(ben, true)).rejects.toMatchObject({ code: 'permission_denied' });
    const { webhook } = await service.create(ada, request);
    await expect(service.remove(ben, webhook.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await service.list({ ...ben, role: 'admin' }, true)).toEqual([webhook]);
    expect(await service.remove({ ...ben, role: 'admin' }, webhook.id)).toEqual(webhook);
  });

  it('who may not change webhooks sees the origins of their URLs alone', async () => {
    const { id } = await create(ada, 'https://receiver.example/T00/secret');
    const reader: Caller = { ...ada, scopes: ['sandboxes:read'] };
    expect(await service.list(reader, false)).toMatchObject([{ id, url: 'https://receiver.example' }]);
    expect(await service.list(ada, false)).toMatchObject([{ url: 'https://receiver.example/T00/secret' }]);
  });
});
