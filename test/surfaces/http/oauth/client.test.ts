/** The official MCP client, authorized by a person, from nothing but the URL. */
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MEMBER_KEY } from '../../fakes/fake-services.ts';
import type { Harness } from '../http-harness.ts';
import { connect, Kept, transportOf } from './app.ts';
import { peopleAt, startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let http: Harness;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  http = await startOAuth();
});

afterEach(async () => {
  await http.close();
  vi.useRealTimers();
});

/** All that an application does, with the person's part between. */
async function authorized(kept: Kept, person: Person, decision: object = { allow: true }) {
  await expect(connect(http.url, kept)).rejects.toThrow(UnauthorizedError);
  const callback = await person.authorize(kept.sentTo ?? '', decision);
  expect(callback.origin + callback.pathname).toBe('http://127.0.0.1:4567/callback');
  expect(callback.searchParams.get('state')).toBe('state-of-app');
  expect(callback.searchParams.get('iss')).toBe(http.url);
  await transportOf(http.url, kept).finishAuth(callback.searchParams);
  return connect(http.url, kept);
}

const whoAmI = { name: 'Sandbox_WhoAmI', arguments: {} };
const create = { name: 'Sandbox_CreateSandbox', arguments: { name: 'box' } };

describe('an application with nothing but the URL', () => {
  it('is authorized by the person who is signed in, and acts as that person', async () => {
    const client = await authorized(new Kept(), await new Person(peopleAt(http)).signIn(MEMBER_KEY));
    expect((await client.callTool(whoAmI)).structuredContent).toMatchObject({ email: 'ben@example.org' });
    expect((await client.callTool(create)).isError).toBeFalsy();
    await client.close();
  });

  it('asks for what tools need, and the person sees who asks', async () => {
    const kept = new Kept();
    await expect(connect(http.url, kept)).rejects.toThrow(UnauthorizedError);
    expect(kept.sentTo?.searchParams.get('scope')).toBe('sandboxes:read sandboxes:write documents:read');
    expect(kept.sentTo?.searchParams.get('resource')).toBe(`${http.url}/mcp`);
    const person = await new Person(peopleAt(http)).signIn();
    expect(await person.asked(await person.open(kept.sentTo ?? ''))).toEqual({
      client: {
        ...{ client_id: expect.stringMatching(/^client_[0-9a-z]{24}$/), name: 'Test app' },
        ...{ redirect_host: '127.0.0.1:4567', described_at: null },
      },
      resource: `${http.url}/mcp`,
      scopes: ['sandboxes:read', 'sandboxes:write', 'documents:read'],
    });
  });

  it('is served without the parameter resource, of which older clients know nothing', async () => {
    const kept = new Kept();
    await expect(connect(http.url, kept)).rejects.toThrow(UnauthorizedError);
    kept.sentTo?.searchParams.delete('resource');
    const person = await new Person(peopleAt(http)).signIn();
    const callback = await person.authorize(kept.sentTo ?? '');
    expect(callback.searchParams.get('iss')).toBe(http.url);
    await transportOf(http.url, kept).finishAuth(callback.searchParams);
    await (await connect(http.url, kept)).close();
  });

  it('hears it when the person denies', async () => {
    const kept = new Kept();
    await expect(connect(http.url, kept)).rejects.toThrow(UnauthorizedError);
    const person = await new Person(peopleAt(http)).signIn();
    const callback = await person.authorize(kept.sentTo ?? '', { allow: false });
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({
      error: 'access_denied',
      iss: http.url,
    });
  });

  it('refreshes its token by itself once it is over, and keeps working', async () => {
    const kept = new Kept();
    const client = await authorized(kept, await new Person(peopleAt(http)).signIn());
    const first = kept.held;
    vi.advanceTimersByTime(16 * MINUTE_MS);
    expect((await client.callTool(whoAmI)).structuredContent).toMatchObject({ user_id: 'user_1' });
    expect(kept.held?.access_token).not.toBe(first?.access_token);
    expect(kept.held?.refresh_token).not.toBe(first?.refresh_token);
    await client.close();
  });

  it('has to ask again after 30 days without use', async () => {
    const kept = new Kept();
    const client = await authorized(kept, await new Person(peopleAt(http)).signIn());
    vi.advanceTimersByTime(29 * DAY_MS);
    await client.callTool(whoAmI);
    vi.advanceTimersByTime(29 * DAY_MS);
    await client.callTool(whoAmI);
    vi.advanceTimersByTime(31 * DAY_MS);
    kept.sentTo = null;
    await expect(client.callTool(whoAmI)).rejects.toThrow();
    expect(kept.sentTo).not.toBeNull();
    await client.close();
  });

  it('learns from a refusal to ask for more, when the person had narrowed it', async () => {
    const kept = new Kept();
    const person = await new Person(peopleAt(http)).signIn();
    const client = await authorized(kept, person, { allow: true, scopes: ['sandboxes:read'] });
    expect(kept.held?.scope).toBe('sandboxes:read');
    expect((await client.callTool(whoAmI)).isError).toBeFalsy();
    kept.sentTo = null;
    await expect(client.callTool(create)).rejects.toThrow();
    const more: URL | null = kept.sentTo;
    expect(new URL(String(more)).searchParams.get('scope')).toBe('sandboxes:read sandboxes:write');
    const callback = await person.authorize(String(more));
    await transportOf(http.url, kept).finishAuth(callback.searchParams);
    const again = await connect(http.url, kept);
    expect((await again.callTool(create)).isError).toBeFalsy();
  });
});
