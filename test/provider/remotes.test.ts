/** What opens a repository at the provider for a user, in both modes, and what is said when it does not open. */
import { describe, expect, it } from 'vitest';
import { parseGitUrl } from '../../src/model/git/url.ts';
import { alice, bob } from '../store/fixtures.ts';
import { type Harness, push, readOnly, startHarness } from './harness.ts';

/** The error that a user gets in the end: before the remote is asked, or by what its refusal means. */
async function refusal(harness: Harness, url: string, purpose = readOnly, user = alice) {
  try {
    const entry = await harness.entry(user, url, purpose);
    return await entry?.explain?.();
  } catch (error) {
    return error;
  }
}

const denied = (words: string) => ({ code: 'permission_denied', message: expect.stringContaining(words) });

describe('a remote is the provider’s', () => {
  it('[SBX-GIT-06] by its host, on its port, over every protocol; its tokens go over its own alone', async () => {
    const { remotes, server, entry } = await startHarness();
    const { port } = server.git;
    const owns = (url: string) => remotes.owns(parseGitUrl(url));
    expect(owns(`http://127.0.0.1:${port}/a/b`)).toBe(true);
    expect(owns(`http://ada@127.0.0.1:${port}/a/b.git`)).toBe(true);
    expect(owns('ssh://git@127.0.0.1/a/b')).toBe(true);
    expect(owns(`http://127.0.0.1:${port + 1}/a/b`)).toBe(false);
    expect(owns(`http://127.0.0.2:${port}/a/b`)).toBe(false);
    expect(owns('https://github.com/a/b')).toBe(false);
    expect(await entry(alice, 'ssh://git@127.0.0.1/a/b')).toBeNull();
    expect(await entry(alice, `https://127.0.0.1:${port}/a/b`)).toBeNull();
  });
});

describe('without an authorization', () => {
  it('[WIRE-ERR-07] everybody’s repository needs none, and another asks for one, with the URL', async () => {
    const harness = await startHarness();
    const entry = await harness.entry(alice, harness.server.repository('ada/secret'));
    expect(entry?.login).toBeNull();
    expect(await entry?.explain?.()).toMatchObject({
      code: 'authorization_required',
      fields: {
        authorization_url: (await harness.authorizations.startBrowser(alice)).url,
        hint: expect.stringContaining('sandhaven auth github'),
      },
    });
  });

  it('one user’s does nothing for another', async () => {
    const harness = await startHarness();
    await harness.authorize(alice, 'ada');
    const url = harness.server.repository('ada/secret');
    expect((await harness.entry(alice, url))?.login?.password).toMatch(/^canary-token-/);
    expect((await harness.entry(bob, url))?.login).toBeNull();
    expect(await refusal(harness, url, push, bob)).toMatchObject({ code: 'authorization_required' });
  });
});

describe('in the mode of an OAuth app', () => {
  it('a refusal names the missing part: the repository, write access, the scope, a sign-on', async () => {
    const harness = await startHarness();
    const { server } = harness;
    await harness.authorize(alice, 'ada');
    const hidden = server.repository('bob/secret');
    expect(await refusal(harness, hidden)).toMatchObject({ code: 'not_found' });
    expect(await refusal(harness, `${server.url}/bob/nothing.git`)).toMatchObject({ code: 'not_found' });
    expect(await refusal(harness, `${server.url}/not/a/repository`)).toMatchObject({ code: 'not_found' });
    const shared = server.repository('bob/shared', { readers: ['ada', 'bob'] });
    expect(await refusal(harness, shared, push)).toMatchObject(denied('contents: write'));
    expect(await refusal(harness, shared)).toMatchObject(denied('contents: read'));
    const acme = server.repository('acme/site', { readers: ['ada'], writers: ['ada'], singleSignOn: true });
    expect(await refusal(harness, acme)).toMatchObject({
      ...denied('single sign-on'),
      fields: { hint: expect.stringContaining(`${server.url}/orgs/acme/sso`) },
    });
    for (const token of server.state.tokens.values()) token.scopes = ['public_repo'];
    expect(await refusal(harness, shared)).toMatchObject(denied('scope repo'));
  });

  it('a token that ended because another call renewed it is no revocation', async () => {
    const harness = await startHarness();
    harness.server.state.tokenSeconds = 8 * 3_600;
    await harness.authorize(alice, 'ada');
    const url = harness.server.repository('ada/secret');
    const early = await harness.entry(alice, url);
    harness.pass(7.9 * 3_600_000);
    harness.server.state.tokens.clear();
    const [late, refused] = await Promise.all([harness.entry(alice, url), early?.explain?.()]);
    expect(refused).toMatchObject({ code: 'unavailable' });
    expect(await early?.explain?.()).toMatchObject({ code: 'unavailable' });
    expect(late?.login?.password).toBe((await harness.entry(alice, url))?.login?.password);
  });

  it('a token that was revoked is noticed, forgotten, and asked for anew', async () => {
    const harness = await startHarness();
    await harness.authorize(alice, 'ada');
    const url = harness.server.repository('ada/secret');
    harness.server.revokeAll('ada');
    expect(await refusal(harness, url)).toMatchObject({ code: 'authorization_required' });
    expect(await harness.store.authorizations.list(alice.id)).toEqual([]);
    await harness.authorize(alice, 'ada');
    expect((await harness.entry(alice, url))?.login).not.toBeNull();
  });
});

describe('in the mode of an app', () => {
  it('[SBX-GIT-27] opens one repository, to read or to write, by a token of the installation', async () => {
    const harness = await startHarness('app');
    const { server } = harness;
    await harness.authorize(alice, 'ada');
    const url = server.repository('ada/secret', { installed: 'write' });
    const reading = await harness.entry(alice, url);
    const writing = await harness.entry(alice, url, push);
    const kept = (entry: typeof reading) => server.state.installationTokens.get(entry?.login?.password ?? '');
    expect(kept(reading)).toMatchObject({ repository: 'ada/secret', contents: 'read' });
    expect(kept(writing)).toMatchObject({ repository: 'ada/secret', contents: 'write' });
  });

  it('keeps a token of an installation until shortly before its hour is over, and makes one for all who wait', async () => {
    const harness = await startHarness('app');
    await harness.authorize(alice, 'ada');
    const url = harness.server.repository('ada/secret', { installed: 'read' });
    const minted = () => harness.server.state.asked.filter((what) => what === 'mint').length;
    await Promise.all(Array.from({ length: 8 }, () => harness.entry(alice, url)));
    harness.pass(49 * 60_000);
    const before = await harness.entry(alice, url);
    expect(minted()).toBe(1);
    harness.pass(60_000);
    const after = await harness.entry(alice, url);
    expect(minted()).toBe(2);
    expect(after?.login?.password).not.toBe(before?.login?.password);
  });

  it('lets nobody in whom the provider does not: an installation is no right of a user', async () => {
    const harness = await startHarness('app');
    const { server } = harness;
    const url = server.repository('ada/secret', { installed: 'write' });
    await harness.authorize(alice, 'ada');
    await harness.authorize(bob, 'bob');
    await harness.entry(alice, url, push);
    expect(await refusal(harness, url, readOnly, bob)).toMatchObject({ code: 'authorization_required' });
    server.repository('ada/shared', { installed: 'write', readers: ['ada', 'bob'] });
    const shared = `${server.url}/ada/shared.git`;
    expect((await harness.entry(bob, shared))?.login).not.toBeNull();
    expect(await refusal(harness, shared, push, bob)).toMatchObject(denied('contents: write'));
  });

  it('[SBX-GIT-27] names the permission that the installation lacks, and where to install what is not', async () => {
    const harness = await startHarness('app');
    const { server } = harness;
    await harness.authorize(alice, 'ada');
    const readable = server.repository('ada/readable', { installed: 'read' });
    expect((await harness.entry(alice, readable))?.login).not.toBeNull();
    expect(await refusal(harness, readable, push)).toMatchObject(
      denied('lacks the permission contents: write'),
    );
    const without = server.repository('ada/without');
    expect(await refusal(harness, without)).toMatchObject({
      code: 'authorization_required',
      fields: { authorization_url: `${server.url}/apps/sandhaven-test/installations/new` },
    });
    const open = server.repository('ada/open', { isPrivate: false });
    expect((await harness.entry(alice, open))?.login).toBeNull();
    expect(await refusal(harness, open, push)).toMatchObject({ code: 'authorization_required' });
  });

  it('asks for a new token when the old one is refused, and for an authorization when that was revoked', async () => {
    const harness = await startHarness('app');
    const { server } = harness;
    await harness.authorize(alice, 'ada');
    const url = server.repository('ada/secret', { installed: 'read' });
    const first = await harness.entry(alice, url);
    expect(await first?.explain?.()).toMatchObject({ code: 'permission_denied' });
    const second = await harness.entry(alice, url);
    expect(second?.login?.password).not.toBe(first?.login?.password);
    server.revokeAll('ada');
    expect(await refusal(harness, url)).toMatchObject({ code: 'authorization_required' });
    expect(await harness.store.authorizations.list(alice.id)).toEqual([]);
  });
});
