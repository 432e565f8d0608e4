/** Authorizations at the code-hosting provider as secrets of sandboxes, over a whole control layer: in force, renewed, ended. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callAction } from '../../../src/administration/call.ts';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import type { ProviderTokens } from '../../../src/model/provider.ts';
import { PROVIDER_PLACE } from '../../../src/model/secrets/provider-secret.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { FakeCodeHost, TOKEN } from '../../support/code-host/fake-code-host.ts';
import { type Control, Installation } from '../network/service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const HOUR = 3_600_000;
const MINUTE = 60_000;

let installation: Installation;
let host: FakeCodeHost;
let service: Control;
let now: number;
let logged: unknown[];

const clock = { now: () => now };
const note = (...given: unknown[]) => void logged.push(given);
const log = { info: note, warn: note, error: note };

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 1_800_000_000_000;
  logged = [];
  installation = new Installation();
  host = new FakeCodeHost(clock.now);
  installation.codeHost = host;
  await installation.enrol();
  await installation.store.users.insertUser(bob);
  await installation.store.secrets.insert(secretOf(bob.id), null);
  await authorize(bob.id);
  service = await opened();
});

afterEach(async () => {
  await service.close();
  vi.useRealTimers();
});

async function opened(): Promise<Control> {
  const control = installation.open({ clock, log });
  await control.reconcile();
  control.services.authorizations?.servedAt('http://127.0.0.1:7420');
  return control;
}

const secretOf = (ownerId: string) => ({
  ...{ id: `se_${ownerId}`, ownerId, name: 'github', variable: 'GITHUB_TOKEN', place: PROVIDER_PLACE },
  ...{ provider: host.url, targets: ['https://api.github.com', 'https://github.com'] },
  ...{ createdAt: now, expiresAt: null },
});

const authorize = (userId: string, tokens: ProviderTokens = host.tokens()) =>
  installation.store.authorizations.put({
    ...{ id: `auth_${userId}`, userId, provider: host.url, account: { id: '1', login: 'ada' } },
    ...{ tokens, createdAt: now, updatedAt: now },
  });

const contextOf = (user = bob) => ({
  caller: { ...user, keyId: 'key_1', scopes: null } as never,
  services: service.services,
  requestId: 'req_1',
  origin: { transport: 'http', address: null } as const,
  signal: new AbortController().signal,
  progress() {},
});
const act = (name: string, parameters: object = {}, user = bob) =>
  callAction(name, parameters, contextOf(user));
const create = (secrets: string[] = ['github'], user = bob) =>
  service.services.sandboxes.create(user, { ...request, ...(secrets.length > 0 ? { secrets } : {}) });
/** Tokens in force for a sandbox, each once. */
const inForce = (id: string) => [
  ...new Set((installation.host.secrets.get(id) ?? []).map(({ value }) => value)),
];
/** Lets time go by to the next look at authorizations. */
async function look(afterMs = MINUTE): Promise<void> {
  now += afterMs;
  await vi.advanceTimersByTimeAsync(MINUTE);
  await settle();
}
/** What a change has begun has ended by then. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('a sandbox', () => {
  it('that is given it calls the provider with the token of its owner, and no other does', async () => {
    const [given, other, another] = [await create(), await create([]), await create([], alice)];
    expect(installation.host.secrets.get(given.id)).toMatchObject([
      {
        value: `${TOKEN}-1`,
        targets: [{ host: 'api.github.com' }],
        place: { in: 'header', format: 'Bearer {secret}' },
      },
      {
        value: `${TOKEN}-1`,
        targets: [{ host: 'api.github.com' }, { host: 'github.com' }],
        place: { in: 'basic', username: 'x-access-token' },
      },
    ]);
    expect([other, another].map(({ id }) => inForce(id))).toEqual([[], []]);
  });

  it('has it until the end of the token, whatever becomes of the service', async () => {
    const { id } = await create();
    expect(installation.host.secrets.get(id)?.[0]?.expiresAt).toBe(now + 8 * HOUR);
  });

  it('gets a token that works at its start, and starts all the same where the provider is away', async () => {
    now += 9 * HOUR;
    host.refreshing = 'unavailable';
    const { id } = await create();
    expect(inForce(id)).toEqual([]);
    host.refreshing = null;
    await look();
    expect(inForce(id)).toEqual([`${TOKEN}-2`]);
    now += 9 * HOUR;
    const later = await create();
    expect(inForce(later.id)).toEqual([`${TOKEN}-3`]);
  });

  it('has nothing in force of another provider than the service has now', async () => {
    const { id } = await create();
    await service.close();
    installation.host.secrets.clear();
    installation.codeHost = Object.assign(new FakeCodeHost(clock.now), { url: 'https://git.example.com' });
    service = await opened();
    expect(inForce(id)).toEqual([]);
  });
});

describe('a token', () => {
  it('is renewed before it ends while a sandbox runs, and is in force without a change inside', async () => {
    const { id } = await create();
    const before = installation.host.secrets.get(id);
    await look();
    expect([host.refreshes, inForce(id)]).toEqual([0, [`${TOKEN}-1`]]);
    await look(8 * HOUR - 12 * MINUTE);
    expect(host.refreshes).toBe(0);
    await look();
    expect([host.refreshes, inForce(id)]).toEqual([1, [`${TOKEN}-2`]]);
    expect(installation.host.secrets.get(id)?.map(({ placeholder }) => placeholder)).toEqual(
      before?.map(({ placeholder }) => placeholder),
    );
  });

  it('is not renewed for a sandbox that does not run', async () => {
    const { id } = await create();
    await service.services.sandboxes.stop(bob, id);
    await look(9 * HOUR);
    expect(host.refreshes).toBe(0);
  });

  it('that ends at once is asked for once a minute, and not without end', async () => {
    host.tokenMs = 0;
    await authorize(bob.id, host.tokens(MINUTE));
    now += 2 * MINUTE;
    await create();
    await settle();
    expect(host.refreshes).toBe(1);
    for (let minute = 0; minute < 3; minute++) await look();
    expect(host.refreshes).toBeLessThanOrEqual(7);
  });
});

describe('nothing carries it', () => {
  it('when the call ends that revokes the authorization, and again after a new one', async () => {
    const { id } = await create();
    expect(await act('RevokeAuthorization')).toMatchObject({ revoked: true, revoked_at_provider: true });
    expect(inForce(id)).toEqual([]);
    expect(host.revoked).toEqual([`${TOKEN}-1`]);
    const { url } = (await service.services.authorizations?.startBrowser(bob)) ?? { url: '' };
    expect(url).toContain('github.com');
    const flows = installation.store.pendingAuthorizations;
    const flow = { ...flowOf(bob.id), state: 'b'.repeat(43), verifier: 'v'.repeat(43) };
    await flows.addBrowser(flow, Number.MAX_SAFE_INTEGER);
    await service.services.authorizations?.complete(flow.state, 'code');
    await vi.waitFor(() => expect(inForce(id)).toEqual([`${TOKEN}-2`]));
  });

  it('once the provider rejects its renewal', async () => {
    const { id } = await create();
    host.refreshing = 'rejected';
    await look(8 * HOUR - 5 * MINUTE);
    expect(inForce(id)).toEqual([]);
    expect(await installation.store.authorizations.list(bob.id)).toEqual([]);
  });

  it('while its user is disabled, and again within a minute afterwards', async () => {
    const { id } = await create();
    await act('DisableUser', { user: bob.id }, alice);
    await vi.waitFor(() => expect(inForce(id)).toEqual([]));
    await look();
    expect(inForce(id)).toEqual([]);
    await act('EnableUser', { user: bob.id }, alice);
    await look();
    expect(inForce(id)).toEqual([`${TOKEN}-1`]);
  });

  it('once its user is a viewer', async () => {
    const { id } = await create();
    await act('UpdateUser', { user: bob.id, role: 'viewer' }, alice);
    await vi.waitFor(() => expect(inForce(id)).toEqual([]));
  });

  it('after a start of the service, where the authorization ended behind its back', async () => {
    const { id } = await create();
    await service.close();
    const [kept] = await installation.store.authorizations.list(bob.id);
    await installation.store.authorizations.remove(kept?.id ?? '');
    service = await opened();
    expect(inForce(id)).toEqual([]);
  });

  it('in a sandbox that could not be reached: the call answers so, and that sandbox has no network', async () => {
    const { id } = await create();
    let failures = 1;
    installation.point = async (label) => {
      if (label === 'engine: put the network in force' && failures-- > 0) throw new Error('no');
    };
    await expect(act('RevokeAuthorization')).rejects.toMatchObject({ code: 'unavailable' });
    expect([installation.inForce(id), inForce(id)]).toEqual(['none', []]);
    expect(host.revoked).toEqual([`${TOKEN}-1`]);
    expect(await installation.store.authorizations.list(bob.id)).toEqual([]);
  });
});

describe('the secret', () => {
  it('is changed within the provider, and has no value to replace', async () => {
    const { id } = await create();
    await act('UpdateSecret', { secret: 'github', targets: ['GET https://api.github.com/repos/acme'] });
    expect(installation.host.secrets.get(id)?.[0]).toMatchObject({
      targets: [{ host: 'api.github.com', methods: ['GET'], path: '/repos/acme' }],
    });
    await act('UpdateSecret', { secret: 'github', targets: ['https://api.github.com'] });
    const elsewhere = act('UpdateSecret', { secret: 'github', targets: ['https://evil.example'] });
    await expect(elsewhere).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'targets' },
    });
    const rotated = act('RotateSecret', { secret: 'github', value: 'another value' });
    await expect(rotated).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('is taken away and deleted like any other', async () => {
    const { id } = await create();
    await act('TakeSecret', { sandbox: id, secret: 'github' });
    expect(inForce(id)).toEqual([]);
    await act('GiveSecret', { sandbox: id, secret: 'github' });
    expect(inForce(id)).toEqual([`${TOKEN}-1`]);
    await act('DeleteSecret', { secret: 'github' });
    expect(inForce(id)).toEqual([]);
  });

  it('has its token in no answer, no error, no log and no audit row', async () => {
    const { id } = await create();
    const answers: unknown[] = [await act('ListSecrets'), await act('ListAuthorizations')];
    const tried = async (name: string, parameters: object) => {
      answers.push(await act(name, parameters).catch((error) => [error, String(error), error.fields]));
    };
    await tried('RotateSecret', { secret: 'github', value: 'another value' });
    await tried('UpdateSecret', { secret: 'github', targets: ['https://evil.example'] });
    host.refreshing = 'unavailable';
    await look(9 * HOUR);
    installation.point = async () => Promise.reject(new Error('no'));
    await tried('GiveSecret', { sandbox: id, secret: 'github' });
    await tried('RevokeAuthorization', {});
    const { rows } = await installation.audit.list({ filter: {}, limit: 100 }, 0);
    const seen = JSON.stringify([answers, logged, rows]);
    expect(seen).toContain('cannot be renewed for sandboxes');
    expect(seen).not.toContain(TOKEN);
  });
});

function flowOf(userId: string) {
  return { id: 'auth_flow', userId, provider: host.url, createdAt: now, expiresAt: now + 10 * MINUTE };
}
