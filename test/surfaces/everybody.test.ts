/** Everybody's sandboxes, for admins: what they see, what they may do, what is noted of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let id: string;

beforeEach(async () => {
  http = await startHttp();
  const headers = { authorization: `Bearer ${MEMBER_KEY}` };
  const parameters = { name: 'box', env_vars: { TOKEN: 'secret' }, labels: { project: 'hidden' } };
  const made = await http.call('Sandbox.CreateSandbox', parameters, headers);
  ({ id } = (await made.json()) as { id: string });
});

afterEach(() => http.close());

async function act(name: string, parameters: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const ben = { id: 'user_2', name: 'Ben', email: 'ben@example.org' };

describe("everybody's sandboxes", () => {
  it('are listed with their owners, and with nothing from inside', async () => {
    const { body } = await act('ListAllSandboxes', {});
    expect(body).toMatchObject({ total_count: 1, sandboxes: [{ id, name: 'box', owner: ben }] });
    expect(JSON.stringify(body)).not.toMatch(/secret|hidden/);
  });

  it('are listed with their deadlines', async () => {
    Object.assign(http.sandboxes.get(id) ?? {}, { deadline: { at: 1_900_000_000_000, action: 'delete' } });
    const { body } = await act('ListAllSandboxes', {});
    expect(body['sandboxes']).toMatchObject([
      { deadline_at: '2030-03-17T17:46:40.000Z', deadline_action: 'delete' },
    ]);
  });

  it('are listed by owner and by state', async () => {
    const count = async (parameters: object) =>
      (await act('ListAllSandboxes', parameters)).body['total_count'];
    expect(await count({ owner: 'BEN@example.org', state: 'started' })).toBe(1);
    expect(await count({ owner: 'ada@example.org' })).toBe(0);
    expect(await count({ state: 'stopped' })).toBe(0);
    expect(await act('ListAllSandboxes', { owner: 'nobody' })).toMatchObject({ status: 404 });
  });

  it('are stopped and deleted by their ids, and by no name', async () => {
    expect(await act('StopAnySandbox', { sandbox: 'box' })).toMatchObject({
      status: 404,
      body: { code: 'not_found', resource: 'sandbox', hint: expect.stringContaining('ListAllSandboxes') },
    });
    expect((await act('StopAnySandbox', { sandbox: id })).body).toMatchObject({ id, state: 'stopped' });
    expect((await act('DeleteAnySandbox', { sandbox: id })).body).toEqual({ id, name: 'box', deleted: true });
    expect(http.sandboxes.size).toBe(0);
  });

  it('of the warm pool are no one’s', async () => {
    Object.assign(http.sandboxes.get(id) ?? {}, { ownerId: null });
    expect(await act('DeleteAnySandbox', { sandbox: id })).toMatchObject({ status: 404 });
    expect((await act('ListAllSandboxes', {})).body).toMatchObject({ total_count: 0 });
  });

  it('are for admins alone', async () => {
    for (const name of ['ListAllSandboxes', 'StopAnySandbox', 'DeleteAnySandbox']) {
      expect(await act(name, { sandbox: id }, MEMBER_KEY), name).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      });
    }
    expect(http.sandboxes.get(id)).toMatchObject({ state: 'started' });
  });

  it('leave rows in the audit log, with the admin who did it', async () => {
    await act('StopAnySandbox', { sandbox: id });
    await act('DeleteAnySandbox', { sandbox: id }, MEMBER_KEY);
    const { rows } = (await act('ListAudit', { sandbox: id })).body as { rows: Record<string, unknown>[] };
    expect(rows.map(({ action, user_id, outcome }) => [action, user_id, outcome])).toEqual([
      ['StopAnySandbox', 'user_1', 'ok'],
    ]);
  });

  it('have commands', async () => {
    const cli = cliFor(http.url);
    expect((await cli(['everybody'])).stdout).toContain('ben@example.org');
    expect((await cli(['everybody', 'stop', id])).stdout).toContain('stopped');
    expect(await cli(['everybody', 'delete', id])).toMatchObject({ code: 0 });
    expect(http.sandboxes.size).toBe(0);
  });
});
