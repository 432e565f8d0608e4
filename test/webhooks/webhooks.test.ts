/** Webhooks as their owners have them: over HTTP, in a real store, with a real receiver. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { wireWebhooks } from '../../src/app/parts/wire-live.ts';
import type { Store } from '../../src/control/ports/index.ts';
import type { Services } from '../../src/control/services.ts';
import { parseAllowedHosts } from '../../src/model/network/allowed-hosts.ts';
import { assertWithinQuota, unlimited } from '../../src/model/quota.ts';
import { createExit } from '../../src/outbound/exit.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, bob, sandboxRecord, temporaryDirectory } from '../store/fixtures.ts';
import { linesUntilKilled } from '../support/killed-program.ts';
import { cliFor } from '../surfaces/cli/cli-harness.ts';
import { createFakeServices, MEMBER_KEY } from '../surfaces/fakes/fake-services.ts';
import { type Harness, startHttp } from '../surfaces/http/http-harness.ts';
import { isSigned, type Receiver, startReceiver } from './receiver.ts';

const key = Buffer.alloc(32, 4);
const log = { info() {}, warn() {}, error() {} };

let store: Store;
let http: Harness;
let receiver: Receiver;
let services: Services;
let file: string;

/** @returns its services, with the worker at work until the test ends. */
function begin(opened: Store) {
  const { webhooks, deliverer } = wireWebhooks({
    ...{ store: opened, log, clock: Date, ca: receiver.ca },
    exit: createExit(),
    allowed: parseAllowedHosts('--webhook-allow', `localhost:${receiver.port}`),
  });
  deliverer.begin();
  onTestFinished(() => deliverer.close());
  return webhooks;
}

async function open(): Promise<Store> {
  const opened = await openSqliteStore({ file, secrets: secretsOf(key) });
  onTestFinished(() => opened.close());
  return opened;
}

beforeEach(async () => {
  file = join(temporaryDirectory(), 'sandhaven.db');
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

/** As an admin, or as a member. */
async function call(name: string, parameters: object, apiKey?: string): Promise<Record<string, unknown>> {
  const answer = await http.fetch(`/v1/admin/${name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    },
    body: JSON.stringify(parameters),
  });
  return (await answer.json()) as Record<string, unknown>;
}

describe('a webhook', () => {
  beforeEach(async () => {
    store = await open();
    await store.users.insertUser({ ...alice, id: 'user_1' });
    await store.users.insertUser({ ...bob, id: 'user_2' });
    services = { ...createFakeServices().services, webhooks: begin(store) } as Services;
    http = await startHttp({ services });
    onTestFinished(() => http.close());
  });

  const stop = async (ownerId: string) => {
    const box = sandboxRecord({ ownerId, envVars: { TOKEN: 'canary-1' } });
    await store.sandboxes.insert(box);
    await store.sandboxes.update(box.id, 1, { state: 'stopped', stateReason: 'idle' });
    return box;
  };

  it('hears of its owner’s sandbox, without its environment, signed with the secret that was shown once', async () => {
    const { webhook_id, secret } = await call('CreateWebhook', { url: receiver.url });
    const box = await stop('user_1');
    await stop('user_2');
    await expect.poll(() => receiver.got).toHaveLength(1);
    const [got] = receiver.got;
    if (!got) throw new Error('nothing came');
    expect(isSigned(got, String(secret))).toBe(true);
    expect(isSigned({ ...got, body: `${got.body} ` }, String(secret))).toBe(false);
    expect(JSON.parse(got.body)).toEqual({
      type: 'sandbox.stopped',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { sandbox_id: box.id, name: box.name, owner_id: 'user_1', state: 'stopped', reason: 'idle' },
    });
    expect(JSON.stringify(receiver.got)).not.toContain('canary-1');
    const listed = await call('ListWebhooks', {});
    expect(listed).toMatchObject({ webhooks: [{ webhook_id, enabled: true, dropped: 0 }] });
    expect(JSON.stringify(listed)).not.toContain(String(secret));
    await expect
      .poll(() => call('ListWebhookDeliveries', { webhook_id }))
      .toMatchObject({
        deliveries: [
          { delivery_id: got.headers['webhook-id'], state: 'delivered', status: 204, attempts: 1 },
        ],
      });
  });

  it('is tested, and says how that ended', async () => {
    const { webhook_id } = await call('CreateWebhook', { url: receiver.url });
    expect(await call('TestWebhook', { webhook_id })).toMatchObject({ state: 'delivered', status: 204 });
    expect(JSON.parse(receiver.got[0]?.body ?? '')).toMatchObject({
      type: 'webhook.test',
      data: { webhook_id },
    });
    receiver.answer = (_, response) => response.writeHead(500).end('a secret of the inside');
    const failed = await call('TestWebhook', { webhook_id });
    expect(failed).toMatchObject({
      state: 'failed',
      status: 500,
      error: 'status 500',
      next_attempt_at: null,
    });
    expect(JSON.stringify(await call('ListWebhookDeliveries', { webhook_id }))).not.toContain('inside');
  });

  it('signs with both secrets after a replacement', async () => {
    const { webhook_id, secret: old } = await call('CreateWebhook', { url: receiver.url });
    const { secret } = await call('RotateWebhookSecret', { webhook_id });
    expect(secret).not.toBe(old);
    await call('TestWebhook', { webhook_id });
    const [got] = receiver.got;
    if (!got) throw new Error('nothing came');
    expect([isSigned(got, String(old)), isSigned(got, String(secret))]).toEqual([true, true]);
  });

  it('is refused at an address inside, and to who is not its owner', async () => {
    const refused = await call('CreateWebhook', { url: 'https://127.0.0.1/' }, MEMBER_KEY);
    expect(refused).toMatchObject({ code: 'invalid_argument', parameter: 'url' });
    expect(await call('CreateWebhook', { url: receiver.url, everybody: true }, MEMBER_KEY)).toMatchObject({
      code: 'permission_denied',
    });
    const { webhook_id } = await call('CreateWebhook', { url: receiver.url });
    expect(await call('DeleteWebhook', { webhook_id }, MEMBER_KEY)).toMatchObject({ code: 'not_found' });
    expect(await call('DeleteWebhook', { webhook_id })).toEqual({ webhook_id, deleted: true });
    expect(await call('ListWebhooks', {})).toEqual({ webhooks: [] });
  });

  it('for everybody hears of all sandboxes', async () => {
    await call('CreateWebhook', { url: receiver.url, everybody: true });
    const box = await stop('user_2');
    await expect.poll(() => receiver.got).toHaveLength(1);
    expect(receiver.got[0]?.body).toContain(box.id);
  });

  it('hears of a call that a quota refused', async () => {
    await call('CreateWebhook', { url: receiver.url, events: ['quota.refused'] });
    const used = { sandboxes: 1, cpu: 2, memory: 4, disk: 20, snapshots: 0 };
    services.sandboxes.create = async () => {
      assertWithinQuota({ ...unlimited, cpu: 2 }, used, { ...used, cpu: 4 });
      throw new Error('the quota had room');
    };
    const refused = await http.call('Sandbox.CreateSandbox', {});
    expect(refused.status).toBe(429);
    await expect.poll(() => receiver.got).toHaveLength(1);
    expect(JSON.parse(receiver.got[0]?.body ?? '')).toMatchObject({
      ...{ type: 'quota.refused', data: { owner_id: 'user_1', quota: 'cpu' } },
    });
  });

  it('has a command for each action', async () => {
    const run = cliFor(http.url);
    const cli = (...argv: string[]) => run(argv);
    const created = await cli('webhooks', 'create', receiver.url, '--events', 'sandbox.error', '--json');
    const { webhook_id, secret } = JSON.parse(created.stdout);
    expect(secret).toMatch(/^whsec_/);
    const listed = await cli('webhooks');
    expect(listed.stdout).toContain(webhook_id);
    expect(listed.stdout).not.toContain(secret);
    const tested = JSON.parse((await cli('webhooks', 'test', webhook_id, '--json')).stdout);
    expect(tested).toMatchObject({ status: 204 });
    expect((await cli('webhooks', 'deliveries', webhook_id)).stdout).toContain(tested.delivery_id);
    const id = ['--delivery-id', tested.delivery_id];
    expect((await cli('webhooks', 'redeliver', webhook_id, ...id)).code).toBe(0);
    const both = ['--events', 'sandbox.error', '--events', 'sandbox.stopped', '--disabled', '--json'];
    expect(JSON.parse((await cli('webhooks', 'update', webhook_id, ...both)).stdout)).toMatchObject({
      ...{ enabled: false, events: ['sandbox.error', 'sandbox.stopped'] },
    });
    const enabled = await cli('webhooks', 'update', webhook_id, '--no-disabled', '--json');
    expect(JSON.parse(enabled.stdout)).toMatchObject({ enabled: true });
    expect(JSON.parse((await cli('webhooks', 'rotate', webhook_id, '--json')).stdout).secret).not.toBe(
      secret,
    );
    expect((await cli('webhooks', 'rm', webhook_id)).code).toBe(0);
  });
});

describe('an event of a killed service', () => {
  it('is delivered after its restart, once, under the id that it had', async () => {
    const program = join(import.meta.dirname, 'dying-service.ts');
    const { lines } = await linesUntilKilled(program, [file, key.toString('hex'), receiver.url], 0);
    begin(await open());
    await expect.poll(() => receiver.got).toHaveLength(1);
    const [got] = receiver.got;
    if (!got) throw new Error('nothing came');
    expect([got.headers['webhook-id']]).toEqual(lines);
    expect(isSigned(got, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(true);
    expect(JSON.parse(got.body)).toMatchObject({ type: 'sandbox.stopped' });
  });
});
