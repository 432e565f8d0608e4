/** Signing a machine in by a code that its user approves on the page. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { API_KEY, MEMBER_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

let http: Harness;

const MINUTE_MS = 60_000;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  http = await startHttp();
});

afterEach(async () => {
  await http.close();
  vi.useRealTimers();
});

interface Offer {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(http.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const act = (action: string, body: object, key = MEMBER_KEY) =>
  post(`/v1/admin/${action}`, body, { authorization: `Bearer ${key}` });
const ask = (device_code: string) => post('/v1/sign-in/device/answer', { device_code });
const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

async function begin(machine = 'laptop'): Promise<Offer> {
  const response = await post('/v1/sign-in/device', { machine });
  expect(response.status).toBe(200);
  return (await response.json()) as Offer;
}

describe('a machine', () => {
  it('shows a code, and waits', async () => {
    const offer = await begin();
    expect(offer).toEqual({
      device_code: expect.stringMatching(/^[0-9a-z]{43}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: 'https://sandhaven.example.org/device',
      verification_uri_complete: `https://sandhaven.example.org/device#code=${offer.user_code}`,
      expires_in: 600,
      interval: 3,
    });
    const response = await ask(offer.device_code);
    expect([response.status, await response.json()]).toEqual([202, { status: 'pending' }]);
  });

  it('gets a key of whoever approves, once', async () => {
    const { device_code, user_code } = await begin();
    const shown = await (await act('GetDeviceSignIn', { code: user_code.toLowerCase() })).json();
    expect(shown).toMatchObject({ user_code, machine: 'laptop', address: '127.0.0.1' });
    expect((await act('ApproveDeviceSignIn', { code: user_code })).status).toBe(200);
    const answer = (await (await ask(device_code)).json()) as Record<string, string>;
    expect(answer).toMatchObject({ status: 'approved', user_id: 'user_2', name: 'Ben', scopes: null });
    const days = (Date.parse(answer['expires_at'] ?? '') - Date.now()) / (24 * 60 * MINUTE_MS);
    expect(days).toBe(90);
    const who = await post('/v1/tools/Sandbox.WhoAmI', {}, { authorization: `Bearer ${answer['api_key']}` });
    expect(await who.json()).toMatchObject({ user_id: 'user_2' });
    expect(await codeOf(await ask(device_code))).toBe('not_found');
    const { keys } = (await (await act('ListKeys', {})).json()) as { keys: { name: string }[] };
    expect(keys.map(({ name }) => name)).toContain('login on laptop');
  });

  it('gets a key of the scopes that were approved', async () => {
    const { device_code, user_code } = await begin();
    const grant = { code: user_code, scopes: ['sandboxes:read'], expires_in_minutes: 5 };
    await act('ApproveDeviceSignIn', grant);
    const answer = (await (await ask(device_code)).json()) as Record<string, string>;
    expect(answer).toMatchObject({ scopes: ['sandboxes:read'] });
    const create = await post(
      '/v1/tools/Sandbox.CreateSandbox',
      { name: 'no' },
      { authorization: `Bearer ${answer['api_key']}` },
    );
    expect(create.status).toBe(403);
  });

  it('gets nothing when its user says no, or not in time', async () => {
    const refused = await begin();
    expect((await act('DenyDeviceSignIn', { code: refused.user_code })).status).toBe(200);
    expect(await codeOf(await ask(refused.device_code))).toBe('permission_denied');
    const late = await begin();
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    expect(await codeOf(await act('ApproveDeviceSignIn', { code: late.user_code }))).toBe('not_found');
    expect(await codeOf(await ask(late.device_code))).toBe('not_found');
  });

  it('gets nothing of a user who was disabled in between', async () => {
    const { device_code, user_code } = await begin();
    await act('ApproveDeviceSignIn', { code: user_code });
    await act('DisableUser', { user: 'user_2' }, API_KEY);
    expect(await codeOf(await ask(device_code))).toBe('permission_denied');
  });
});

describe('an attacker', () => {
  it('gets no key by the code that people see', async () => {
    const { user_code } = await begin();
    await act('ApproveDeviceSignIn', { code: user_code });
    expect(await codeOf(await ask(user_code))).toBe('not_found');
  });

  it('approves nothing without signing in, and no more than a key has itself', async () => {
    const { user_code } = await begin();
    expect((await post('/v1/admin/ApproveDeviceSignIn', { code: user_code })).status).toBe(401);
    const made = await act('CreateKey', { name: 'narrow', scopes: ['account'] });
    const { api_key } = (await made.json()) as { api_key: string };
    expect(await codeOf(await act('ApproveDeviceSignIn', { code: user_code }, api_key))).toBe(
      'permission_denied',
    );
    const asked = { code: user_code, scopes: ['sandboxes:write'] };
    expect(await codeOf(await act('ApproveDeviceSignIn', asked, api_key))).toBe('permission_denied');
    expect((await act('GetDeviceSignIn', { code: user_code })).status).toBe(200);
  });

  it('is slowed down', async () => {
    for (let count = 0; count < 10; count += 1) await begin();
    const response = await post('/v1/sign-in/device', { machine: 'one more' });
    expect(await codeOf(response)).toBe('resource_exhausted');
  });

  it.each([
    [400, {}],
    [400, { machine: '' }],
    [400, { machine: 'x'.repeat(65) }],
    [400, { machine: 'a\u0007b' }],
    [400, { machine: 'a\u202eb' }],
    [400, { machine: 'a', more: 1 }],
    [400, []],
    [413, 'x'.repeat(3_000)],
  ])('gets %i for %j as a machine', async (status, body) => {
    expect((await post('/v1/sign-in/device', body)).status).toBe(status);
  });
});
