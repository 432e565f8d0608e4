/** Sleep of a sandbox as callers set and see it: the actions, the tools, the command line. */
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

async function act(action: string, parameters: object, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/admin/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const shown = async () =>
  (await (await http.call('Sandbox.GetSandbox', { sandbox: 'box' })).json()) as Record<string, unknown>;

describe('the actions', () => {
  it('pause and wake it; GetSandbox and lists show since when it sleeps', async () => {
    expect(await shown()).not.toHaveProperty('asleep_since');
    const { status, body } = await act('PauseSandbox', { sandbox: 'box' });
    expect([status, body]).toMatchObject([200, { asleep_since: '1970-01-01T00:00:00.000Z', wake: false }]);
    expect(await shown()).toMatchObject({ state: 'started', asleep_since: '1970-01-01T00:00:00.000Z' });
    const { sandboxes } = (await (await http.call('Sandbox.ListSandboxes', {})).json()) as {
      sandboxes: object[];
    };
    expect(sandboxes).toMatchObject([{ asleep_since: '1970-01-01T00:00:00.000Z' }]);
    expect((await act('ResumeSandbox', { sandbox: 'box' })).body).toMatchObject({ asleep_since: null });
    expect(await shown()).not.toHaveProperty('asleep_since');
  });

  it('set when it sleeps and what starts it', async () => {
    const { body } = await act('SetSandboxSleep', { sandbox: 'box', after_seconds: 60, wake: true });
    expect(body).toMatchObject({ asleep_since: null, sleep_after_seconds: 60, wake: true });
    expect(await shown()).toMatchObject({ sleep_after_seconds: 60, wake: true });
  });

  it.each([
    [{ after_seconds: -1 }, 'after_seconds'],
    [{ after_seconds: 2_592_001 }, 'after_seconds'],
    [{ after_seconds: 1.5 }, 'after_seconds'],
    [{ wake: 'yes' }, 'wake'],
    [{ sleep: 1 }, 'sleep'],
  ])('refuse %o', async (given, parameter) => {
    expect(await act('SetSandboxSleep', { sandbox: 'box', ...given })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', parameter },
    });
  });

  it.each(['PauseSandbox', 'ResumeSandbox', 'SetSandboxSleep'])(
    'know sandboxes of the caller alone: %s',
    async (name) => {
      expect(await act(name, { sandbox: 'box' }, MEMBER_KEY)).toMatchObject({ status: 404 });
      expect(await shown()).not.toHaveProperty('asleep_since');
    },
  );
});

describe('the command line', () => {
  it('pauses, shows, wakes, and sets', async () => {
    const paused = await cli(['pause', 'box']);
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringContaining('1970-01-01T00:00:00.000Z') });
    expect((await cli(['ls'])).stdout).toMatch(/started \(asleep\)/);
    expect((await cli(['resume', 'box'])).code).toBe(0);
    expect((await cli(['ls'])).stdout).not.toMatch(/asleep/);
    expect((await cli(['sleep', 'set', 'box', '--after-seconds', '300', '--wake'])).code).toBe(0);
    expect(await shown()).toMatchObject({ sleep_after_seconds: 300, wake: true });
  });

  it('reports each sandbox that is named', async () => {
    const { code, stderr } = await cli(['pause', 'box', 'none']);
    expect([code, stderr]).toMatchObject([1, expect.stringContaining("no sandbox 'none'")]);
    expect(await shown()).toHaveProperty('asleep_since');
  });
});
