/** Secrets of sandboxes over a whole control layer: at starts, claims and restarts, and through every change of them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callAction } from '../../../src/administration/call.ts';
import { callTool } from '../../../src/catalog/call.ts';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import { SecretUses } from '../../../src/control/reach/secret-uses.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { type Control, Installation } from '../network/service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const CANARY = 'canary-5b21e6';

let installation: Installation;
let service: Control;
let now: number;
let logged: unknown[];

const clock = { now: () => now };
const note = (...given: unknown[]) => void logged.push(given);
const log = { info: note, warn: note, error: note };

beforeEach(async () => {
  now = 1_000_000;
  logged = [];
  installation = new Installation();
  await installation.enrol();
  await installation.store.users.insertUser(bob);
  service = installation.open({ clock, log });
  await service.reconcile();
});

afterEach(() => service.close());

async function restart(options: Parameters<Installation['open']>[0] = {}): Promise<void> {
  installation.host.secrets.clear();
  service = installation.open({ clock, log, ...options });
  await service.reconcile();
}

const contextOf = (user = alice) => ({
  caller: { ...user, keyId: 'key_1', scopes: null } as never,
  services: service.services,
  requestId: 'req_1',
  origin: { transport: 'http', address: null } as const,
  signal: new AbortController().signal,
  progress() {},
});
const act = (name: string, parameters: object, user = alice) => callAction(name, parameters, contextOf(user));
const keep = (name: string, more: object = {}, user = alice) =>
  act(
    'CreateSecret',
    { name, value: `${CANARY}-${name}`, targets: ['https://api.example.com'], ...more },
    user,
  );
const create = (secrets?: string[], user = alice) =>
  service.services.sandboxes.create(user, { ...request, ...(secrets ? { secrets } : {}) });
/** Values in force, by the names of their secrets. */
const inForce = (id: string) =>
  Object.fromEntries((installation.host.secrets.get(id) ?? []).map(({ name, value }) => [name, value]));
const environment = async (id: string): Promise<Record<string, string>> => {
  const { secrets: store, serviceSecrets } = installation.store;
  const sandbox = await installation.store.sandboxes.get(id);
  return sandbox ? new SecretUses({ store, serviceSecrets, provider: null, clock }).environment(sandbox) : {};
};

describe('a sandbox', () => {
  it('has its secrets in force before its machine starts, and at each later start', async () => {
    await keep('stripe');
    await keep('other');
    const seen: unknown[] = [];
    installation.point = async (label) => {
      if (label === 'engine: launch')
        seen.push([...installation.host.secrets.values()].map((uses) => uses.length));
    };
    const { id } = await create(['stripe']);
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-stripe` });
    expect(installation.host.trusted.get(id)).toBe(`certificate of ${id}`);
    await service.services.sandboxes.stop(alice, id);
    await act('GiveSecret', { sandbox: id, secret: 'other' });
    await service.services.sandboxes.start(alice, id);
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-stripe`, other: `${CANARY}-other` });
    expect(seen).toEqual([[1], [2]]);
  });

  it('holds a placeholder of its own, beside where its certificates are', async () => {
    await keep('stripe');
    const [one, other, none] = [await create(['stripe']), await create(['stripe']), await create()];
    const variables = await environment(one.id);
    const [use] = installation.host.secrets.get(one.id) ?? [];
    expect(variables).toMatchObject({
      STRIPE: use?.placeholder,
      SSL_CERT_FILE: '/etc/sandhaven/ca-bundle.pem',
      NODE_EXTRA_CA_CERTS: '/etc/sandhaven/authority.pem',
    });
    expect(use?.placeholder).toMatch(/^sandhaven-secret-[0-9a-f]{32}$/);
    expect((await environment(other.id))['STRIPE']).not.toBe(use?.placeholder);
    expect(await environment(none.id)).toEqual({});
    expect(installation.host.trusted.has(none.id)).toBe(false);
  });

  it('has them in force again, under the same placeholders, before a restarted service is ready', async () => {
    await keep('stripe');
    const { id } = await create(['stripe']);
    const before = installation.host.secrets.get(id);
    await restart();
    expect(installation.host.secrets.get(id)).toEqual(before);
  });

  it('of the warm pool has them when its caller gets it', async () => {
    await keep('stripe');
    await restart({ warmPool: { min: 1, max: 1 } });
    service.pool.refill(0);
    const pool = () => installation.store.sandboxes.pool();
    await vi.waitFor(async () => expect(await pool()).toHaveLength(1));
    const [waiting] = await pool();
    expect(inForce(waiting?.id ?? '')).toEqual({});
    const made = await create(['stripe']);
    expect([made.id, inForce(made.id)]).toEqual([waiting?.id, { stripe: `${CANARY}-stripe` }]);
    expect(installation.host.trusted.get(made.id)).toBe(`certificate of ${made.id}`);
  });

  it('is made while a secret of it is rotated, and has the new value in force', async () => {
    await keep('stripe');
    const { insert } = installation.store.sandboxes;
    installation.store.sandboxes.insert = async (...given) => {
      await insert(...given);
      // Between the commit of the row and the turn of its creation.
      await act('RotateSecret', { secret: 'stripe', value: `${CANARY}-first` });
    };
    installation.point = async (label) => {
      if (label !== 'engine: launch') return;
      installation.point = async () => {};
      await act('RotateSecret', { secret: 'stripe', value: `${CANARY}-second` });
    };
    const { id } = await create(['stripe']);
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-second` });
  });

  it("never has another owner's, whatever its row names", async () => {
    const { secret_id: id } = await keep('stripe', {}, bob);
    await expect(create(['stripe'])).rejects.toMatchObject({ code: 'not_found' });
    await expect(create([String(id)])).rejects.toMatchObject({ code: 'not_found' });
    const sandbox = await create();
    const gave = act('GiveSecret', { sandbox: sandbox.id, secret: String(id) });
    await expect(gave).rejects.toMatchObject({ code: 'not_found' });
    await installation.store.sandboxes.update(sandbox.id, sandbox.generation, { secretIds: [String(id)] });
    await restart();
    expect([inForce(sandbox.id), await environment(sandbox.id)]).toEqual([{}, {}]);
  });

  it('has ten at most, each with a variable of its own', async () => {
    for (let n = 0; n < 11; n++) await keep(`s${n}`);
    await keep('S1');
    const ten = Array.from({ length: 10 }, (_, n) => `s${n}`);
    await expect(create([...ten, 's10'])).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(create(['s1', 'S1'])).rejects.toMatchObject({
      ...{
        code: 'invalid_argument',
        message: expect.stringContaining("'s1' and 'S1' have one variable, S1"),
      },
    });
    const { id } = await create([...ten, 's1']);
    expect(Object.keys(inForce(id))).toHaveLength(10);
    const gave = act('GiveSecret', { sandbox: id, secret: 's10' });
    await expect(gave).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(installation.store.sandboxes.get(id)).resolves.toMatchObject({ secretIds: { length: 10 } });
  });

  it('shows them by name and variable', async () => {
    await keep('stripe', { variable: 'API_KEY' });
    const { id } = await create(['stripe']);
    const shown = await callTool(
      'Sandbox.GetSandbox',
      { sandbox: id, include_raw_env_vars: true },
      contextOf(),
    );
    expect(shown).toMatchObject({ secrets: [{ name: 'stripe', variable: 'API_KEY' }], env_vars: {} });
  });
});

describe('a change of a secret', () => {
  it('reaches running sandboxes before the call ends: given, rotated, updated, taken', async () => {
    await keep('stripe');
    const { id } = await create();
    await act('GiveSecret', { sandbox: id, secret: 'stripe' });
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-stripe` });
    expect(installation.host.trusted.get(id)).toBe(`certificate of ${id}`);
    const placeholder = installation.host.secrets.get(id)?.[0]?.placeholder;
    await act('RotateSecret', { secret: 'stripe', value: `${CANARY}-rotated` });
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-rotated` });
    await act('UpdateSecret', { secret: 'stripe', targets: ['GET https://api.example.com/v1'] });
    expect(installation.host.secrets.get(id)?.[0]).toMatchObject({
      placeholder,
      targets: [{ host: 'api.example.com', methods: ['GET'], path: '/v1' }],
    });
    expect(await act('TakeSecret', { sandbox: id, secret: 'stripe' })).toEqual({ sandbox: id, secrets: [] });
    expect(inForce(id)).toEqual({});
    await act('TakeSecret', { sandbox: id, secret: 'stripe' });
  });

  it('to another host needs the value again', async () => {
    await keep('stripe');
    const targets = ['https://evil.example'];
    await expect(act('UpdateSecret', { secret: 'stripe', targets })).rejects.toMatchObject({
      ...{ code: 'invalid_argument', fields: { parameter: 'targets' } },
    });
    const rotated = await act('RotateSecret', { secret: 'stripe', value: `${CANARY}-rotated`, targets });
    expect(rotated).toMatchObject({ targets });
  });

  it('that deletes it takes it from all sandboxes, and leaves the others theirs', async () => {
    await keep('stripe');
    await keep('other');
    const [one, two] = [await create(['stripe', 'other']), await create(['stripe'])];
    await service.services.sandboxes.stop(alice, two.id);
    await act('DeleteSecret', { secret: 'stripe' });
    expect(inForce(one.id)).toEqual({ other: `${CANARY}-other` });
    const rows = await Promise.all([one, two].map(({ id }) => installation.store.sandboxes.get(id)));
    expect(rows.map((row) => row?.secretIds.length)).toEqual([1, 0]);
    await expect(act('DeleteSecret', { secret: 'stripe' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that the engine cannot put in force says so, and leaves the sandbox no network and no secret', async () => {
    await keep('stripe');
    const { id } = await create(['stripe']);
    let failures = 1;
    installation.point = async (label) => {
      if (label === 'engine: put the network in force' && failures-- > 0) throw new Error('no');
    };
    const rotated = act('RotateSecret', { secret: 'stripe', value: `${CANARY}-rotated` });
    await expect(rotated).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining('not in force in all running sandboxes') },
    });
    expect([installation.inForce(id), inForce(id)]).toEqual(['none', {}]);
    await act('RotateSecret', { secret: 'stripe', value: `${CANARY}-again` });
    expect([installation.inForce(id), inForce(id)]).toEqual(['open', { stripe: `${CANARY}-again` }]);
  });

  it('is not in force where programs inside do not trust the certificate', async () => {
    await keep('stripe');
    const { id } = await create();
    installation.point = async (label) => {
      if (label === 'agent: trust a certificate') throw new Error('no');
    };
    const gave = act('GiveSecret', { sandbox: id, secret: 'stripe' });
    await expect(gave).rejects.toMatchObject({ code: 'unavailable' });
    expect(inForce(id)).toEqual({});
    installation.point = async () => {};
    await act('GiveSecret', { sandbox: id, secret: 'stripe' });
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-stripe` });
  });
});

describe('an end', () => {
  it('is passed on to the engine, and a secret behind its end is not', async () => {
    await keep('stripe', { expires_in_minutes: 5 });
    const { id } = await create(['stripe']);
    expect(installation.host.secrets.get(id)?.[0]?.expiresAt).toBe(1_000_000 + 5 * 60_000);
    now += 5 * 60_000;
    await restart();
    expect(inForce(id)).toEqual({});
    await act('UpdateSecret', { secret: 'stripe', expires_in_minutes: 0 });
    expect(inForce(id)).toEqual({ stripe: `${CANARY}-stripe` });
  });
});

it('a value is in no answer, no error, no log and no audit row', async () => {
  const answers: unknown[] = [];
  const tried = async (name: string, parameters: object) => {
    answers.push(
      await act(name, parameters).catch((error) => [error, String(error), error.fields, error.cause]),
    );
  };
  answers.push(await keep('stripe'));
  await tried('CreateSecret', { name: 'stripe', value: CANARY, targets: ['https://api.example.com'] });
  await tried('CreateSecret', { name: 'b', value: `${CANARY}\n`, targets: ['https://api.example.com'] });
  await tried('CreateSecret', { name: 'c', value: CANARY, targets: ['http://api.example.com'] });
  await tried('CreateSecret', {
    name: 'd',
    value: CANARY,
    targets: ['https://api.example.com'],
    place: 'aws',
  });
  await tried('CreateSecret', { name: 'e', value: [CANARY], targets: ['https://api.example.com'] });
  await tried('CreateSecret', { name: 'f', value: CANARY.repeat(1_000), targets: ['https://a.example.com'] });
  const { id } = await create(['stripe']);
  installation.point = async () => Promise.reject(new Error('no'));
  await tried('RotateSecret', { secret: 'stripe', value: `${CANARY}-rotated` });
  installation.point = async () => {};
  await tried('GiveSecret', { sandbox: id, secret: 'stripe' });
  await tried('ListSecrets', {});
  answers.push(
    await callTool('Sandbox.GetSandbox', { sandbox: id, include_raw_env_vars: true }, contextOf()),
  );
  await tried('TakeSecret', { sandbox: id, secret: 'stripe' });
  await tried('DeleteSecret', { secret: 'stripe' });
  const { rows } = await installation.audit.list({ filter: {}, limit: 100 }, 0);
  expect(rows.map(({ action }) => action)).toContain('RotateSecret');
  const seen = JSON.stringify([answers, logged, rows, await environment(id)]);
  expect(seen).toContain('se_');
  expect(seen).not.toContain(CANARY);
});
