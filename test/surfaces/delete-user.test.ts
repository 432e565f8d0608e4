/** Users whom an admin deletes: over HTTP and on the command line. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const ben = 'ben@example.org';
let http: Harness;

beforeEach(async () => {
  http = await startHttp();
});
afterEach(() => http.close());

async function post(path: string, parameters: unknown, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${http.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(parameters),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const act = (name: string, parameters: unknown, key = API_KEY) => post(`/v1/admin/${name}`, parameters, key);
const make = (name: string, key: string) => post('/v1/tools/Sandbox.CreateSandbox', { name }, key);

describe('a user', () => {
  it('is shown with what would go, and stays, without yes', async () => {
    expect((await act('DeleteUser', { user: ben })).body).toMatchObject({
      ...{ user_id: 'user_2', name: 'Ben', email: ben, deleted: false, sandboxes: 0 },
    });
    expect((await make('box', MEMBER_KEY)).status).toBe(200);
  });

  it('goes with their sandboxes and keys; others keep theirs', async () => {
    await make('box', MEMBER_KEY);
    await make('adas', API_KEY);
    expect(await act('DeleteUser', { user: ben, yes: true })).toMatchObject({
      status: 200,
      body: { user_id: 'user_2', deleted: true },
    });
    expect([...http.sandboxes.values()].map(({ name }) => name)).toEqual(['adas']);
    expect((await make('more', MEMBER_KEY)).status).toBe(401);
    expect(await act('DeleteUser', { user: ben, yes: true })).toMatchObject({ status: 404 });
    const again = await act('CreateUser', { name: 'Ben', email: ben });
    expect(again.body['user_id']).not.toBe('user_2');
  });

  it('stays in the audit log, found by id and by the address of then', async () => {
    await make('box', MEMBER_KEY);
    await act('DeleteUser', { user: ben, yes: true });
    for (const user of ['user_2', 'BEN@example.org']) {
      const { rows } = (await act('ListAudit', { user })).body as { rows: Record<string, unknown>[] };
      expect(rows, user).toMatchObject([
        { action: 'Sandbox.CreateSandbox', user_id: 'user_2', outcome: 'ok' },
        { action: 'DeleteUser', user_id: 'user_1', team_id: 'user_2', outcome: 'ok' },
      ]);
    }
    expect(await act('ListAudit', { user: 'nobody@example.org' })).toMatchObject({ status: 404 });
  });

  it('is deleted by no member, nor by themselves', async () => {
    for (const yes of [true, false]) {
      expect(await act('DeleteUser', { user: 'user_1', yes }, MEMBER_KEY)).toMatchObject({ status: 403 });
      expect(await act('DeleteUser', { user: 'ADA@example.org', yes })).toMatchObject({
        status: 412,
        body: { detail: 'Nobody deletes their own user.' },
      });
    }
  });

  it('leaves sandboxes to an heir where admins read inside, and to nobody elsewhere', async () => {
    await make('box', MEMBER_KEY);
    expect(await act('DeleteUser', { user: ben, to: 'ada@example.org', yes: true })).toMatchObject({
      status: 403,
      body: { parameter: 'to' },
    });
    await http.close();
    http = await startHttp({}, { adminsReadInside: true });
    await make('box', MEMBER_KEY);
    await act('CreateTeam', { name: 'red' });
    const asked = { user: ben, to: 'red' };
    const shown = (await act('DeleteUser', asked)).body;
    expect(shown).toMatchObject({ deleted: false, to: expect.stringMatching(/^team_/) });
    expect((await cliFor(http.url)(['users', 'delete', ben, '--to', 'red', '--yes'])).stdout).toMatch(
      /to +team_/,
    );
    expect([...http.sandboxes.values()]).toMatchObject([{ name: 'box', ownerId: shown['to'] }]);
    const { rows } = (await act('ListAudit', { action: 'sandbox.given' })).body as { rows: unknown[] };
    const [box] = [...http.sandboxes.keys()];
    expect(rows).toMatchObject([{ user_id: 'user_1', sandbox_id: box, team_id: shown['to'], outcome: 'ok' }]);
    expect(await act('DeleteUser', { user: ben })).toMatchObject({ status: 404 });
  });

  it('is deleted on the command line with --yes', async () => {
    const cli = cliFor(http.url);
    expect((await cli(['users', 'delete', ben])).stdout).toMatch(/deleted +false/);
    expect((await cli(['users', 'delete', ben, '--yes'])).stdout).toMatch(/deleted +true/);
    expect(await cli(['users', 'delete', ben, '--yes'])).toMatchObject({ code: 4 });
  });
});
