/** `sandhaven login` without a key: a code, a user who approves it elsewhere, and a key for this machine. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MEMBER_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor, type Ran } from './cli-harness.ts';

let http: Harness;
let home: string;

beforeEach(async () => {
  http = await startHttp();
  home = await mkdtemp(join(tmpdir(), 'sandhaven-device-'));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await http.close();
  await rm(home, { recursive: true });
});

const act = (action: string, body: object) =>
  fetch(`${http.url}/v1/admin/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${MEMBER_KEY}` },
    body: JSON.stringify(body),
  });

/** Logs in, and gives the answer as soon as the code has come. */
async function login(action: 'ApproveDeviceSignIn' | 'DenyDeviceSignIn' | null): Promise<Ran> {
  const realFetch = globalThis.fetch;
  const interrupt = new AbortController();
  const offered = Promise.withResolvers<string>();
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await realFetch(input, init);
    if (!String(input).endsWith('/v1/sign-in/device') || !response.ok) return response;
    const given = (await response.json()) as { user_code: string; interval: number };
    offered.resolve(given.user_code);
    expect(given.interval).toBe(3);
    return Response.json({ ...given, interval: 0.05 });
  });
  const argv = ['login', http.url, '--context', 'here'];
  const running = cliFor(http.url)(argv, { env: { HOME: home }, signal: interrupt.signal });
  const code = await offered.promise;
  if (action) expect((await act(action, { code })).status).toBe(200);
  else interrupt.abort();
  const ran = await running;
  if (action) expect(ran.stderr).toContain(`and approve the code ${code} there.\n`);
  return ran;
}

describe('login on a terminal', () => {
  it('shows a code and where to approve it, and stores the key that comes', async () => {
    const { code, stdout, stderr } = await login('ApproveDeviceSignIn');
    expect(stderr).toMatch(/^Open https:\/\/sandhaven\.example\.org\/device#code=[B-Z]{4}-[B-Z]{4}\n/);
    expect(stdout).toContain(`Logged in to ${http.url} as Ben.`);
    expect(code).toBe(0);
    const file = JSON.parse(await readFile(join(home, '.config/sandhaven/contexts.json'), 'utf8'));
    expect(file).toMatchObject({ current: 'here', contexts: { here: { url: http.url } } });
    expect(file.contexts.here.key).toMatch(/^shv_[0-9a-z]{43}$/);
    expect(stdout + stderr).not.toContain(file.contexts.here.key);
  });

  it('stores nothing when the user says no', async () => {
    const { code, stderr } = await login('DenyDeviceSignIn');
    expect(stderr).toContain('The sign-in was refused on the page.');
    expect(code).toBe(3);
    await expect(readFile(join(home, '.config/sandhaven/contexts.json'))).rejects.toThrow();
  });

  it('ends at an interrupt', async () => {
    expect((await login(null)).code).toBe(130);
    await expect(readFile(join(home, '.config/sandhaven/contexts.json'))).rejects.toThrow();
  });
});
