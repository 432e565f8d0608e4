/** The deadline of a sandbox as callers set and see it: the action, the tools, the command line. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  expect((await http.call('Sandbox.CreateSandbox', { name: 'box' })).status).toBe(200);
});

afterEach(() => http.close());

async function set(parameters: object, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/admin/SetSandboxDeadline`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const shown = async () =>
  (await (await http.call('Sandbox.GetSandbox', { sandbox: 'box' })).json()) as Record<string, unknown>;
const secondsUntil = (time: unknown) => (Date.parse(String(time)) - Date.now()) / 1_000;

describe('SetSandboxDeadline', () => {
  it('sets, moves and removes it; GetSandbox shows it while there is one', async () => {
    expect(await shown()).not.toHaveProperty('deadline_at');
    const { status, body } = await set({ sandbox: 'box', seconds: 60, action: 'delete' });
    expect([status, body['deadline_action']]).toEqual([200, 'delete']);
    expect(secondsUntil(body['deadline_at'])).toBeCloseTo(60, -1);
    expect(await shown()).toMatchObject({ deadline_at: body['deadline_at'], deadline_action: 'delete' });
    const later = await set({ sandbox: 'box', seconds: 2_592_000 });
    expect(later.body['deadline_action']).toBe('delete');
    expect(secondsUntil(later.body['deadline_at'])).toBeCloseTo(2_592_000, -1);
    const none = { deadline_at: null, deadline_action: null };
    expect((await set({ sandbox: 'box', seconds: 0 })).body).toMatchObject(none);
    expect(await shown()).not.toHaveProperty('deadline_action');
  });

  it.each([
    [{ seconds: -1 }, 'seconds'],
    [{ seconds: 2_592_001 }, 'seconds'],
    [{ seconds: 1.5 }, 'seconds'],
    [{}, 'seconds'],
    [{ seconds: null }, 'seconds'],
    [{ seconds: 1, action: 'pause' }, 'action'],
  ])('refuses %o, and changes nothing', async (given, parameter) => {
    expect(await set({ sandbox: 'box', ...given })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', parameter },
    });
    expect(await shown()).not.toHaveProperty('deadline_at');
  });

  it('knows sandboxes of the caller alone', async () => {
    expect(await set({ sandbox: 'box', seconds: 1 }, MEMBER_KEY)).toMatchObject({ status: 404 });
    expect(await shown()).not.toHaveProperty('deadline_at');
  });
});

describe('sandhaven deadline set', () => {
  it('sets it, and shows what is set', async () => {
    const set = ['deadline', 'set', 'box', '--seconds', '3600', '--action', 'delete'];
    const { code, stdout } = await cli(set);
    expect(code).toBe(0);
    expect(stdout).toMatch(/delete/);
    expect(secondsUntil((await shown())['deadline_at'])).toBeCloseTo(3_600, -1);
    expect((await cli(['deadline', 'set', 'box', '--seconds', '0'])).code).toBe(0);
    expect(await shown()).not.toHaveProperty('deadline_at');
  });

  it('has help with its bounds', async () => {
    const { stdout } = await cli(['deadline', 'set', '--help']);
    expect(stdout).toMatch(/1–2592000\); 0 removes the deadline/);
  });
});
