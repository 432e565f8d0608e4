/** Applications of viewers: no consent gives them what the role keeps back, so none is asked for. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MEMBER_KEY } from '../../fakes/fake-services.ts';
import type { Harness } from '../http-harness.ts';
import { callTool, RawApp, tokensIn } from './app.ts';
import { startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

const REFUSED = 'A viewer changes nothing, runs nothing and opens no access.';

let http: Harness;
let app: RawApp;

beforeEach(async () => {
  http = await startOAuth();
  app = await new RawApp(http.url).registered();
});

afterEach(() => http.close());

/** Returns the token of an application with these scopes, of the member. */
async function tokenFor(scope: string): Promise<string> {
  const person = await new Person(http.url).signIn(MEMBER_KEY);
  const callback = await person.authorize(app.url({ scope }));
  return (await tokensIn(await app.redeem(callback.searchParams.get('code')))).access_token;
}

const create = (token: string, headers = {}) =>
  callTool(http.url, token, 'Sandbox_CreateSandbox', { name: 'box' }, headers);

async function act(action: string, parameters: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await http.fetch(`/v1/admin/${action}`, {
    ...{ method: 'POST', headers, body: JSON.stringify(parameters) },
  });
  expect(answer.status).toBe(200);
}

describe('an application of a viewer', () => {
  it('is refused by the tool, whatever it was allowed', async () => {
    await act('UpdateUser', { user: 'ben@example.org', role: 'viewer' });
    const answer = await create(await tokenFor('sandboxes:read sandboxes:write'));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([200, null]);
    expect(await answer.text()).toContain(REFUSED);
  });

  it('is refused by the tool once its user has become one', async () => {
    const token = await tokenFor('sandboxes:read sandboxes:write');
    await act('UpdateUser', { user: 'ben@example.org', role: 'viewer' });
    expect(await (await create(token)).text()).toContain(REFUSED);
  });

  it('is refused by the tool for a team that its user only views, and acts for the user otherwise', async () => {
    await act('CreateTeam', { name: 'red' });
    await act('AddTeamMember', { team: 'red', user: 'ben@example.org', role: 'viewer' });
    const token = await tokenFor('sandboxes:read sandboxes:write');
    const answer = await create(token, { 'sandhaven-team': 'red' });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([200, null]);
    expect(await answer.text()).toContain(REFUSED);
    expect(await (await create(token)).text()).toContain('"name":"box"');
  });

  it('is asked to step up to what its user can give', async () => {
    await act('UpdateUser', { user: 'ben@example.org', role: 'viewer' });
    const answer = await callTool(http.url, await tokenFor('documents:read'));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('scope="sandboxes:read documents:read"');
  });
});
