/** A second provider, by the same services: authorizations, renewals and remotes at a GitLab. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AuthorizationService } from '../../src/control/provider/authorizations.ts';
import { ProviderRemotes } from '../../src/control/provider/remotes.ts';
import { UserTokens } from '../../src/control/provider/tokens.ts';
import { parseGitUrl } from '../../src/model/git/url.ts';
import { createGitLab, projectOfPath } from '../../src/provider/gitlab.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, temporaryDirectory } from '../store/fixtures.ts';
import { clientId, clientSecret, GitLabServer } from '../support/code-host/gitlab.ts';

const HOUR = 3_600_000;
const CALLBACK = 'http://127.0.0.1:7420';
const reads = { service: 'git-upload-pack' as const };
const pushes = { service: 'git-receive-pack' as const, ref: 'refs/heads/main' };
const silent = { info() {}, warn() {}, error() {} };

async function start(secret = clientSecret) {
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const server = new GitLabServer(clock.now);
  await server.open();
  const secrets = secretsOf(Buffer.alloc(32, 3));
  const store = await openSqliteStore({ file: join(temporaryDirectory(), 'sandhaven.db'), secrets });
  onTestFinished(async () => {
    await store.close();
    await server.close();
  });
  await store.users.insertUser(alice);
  const { url } = server;
  const host = createGitLab({ url, apiUrl: `${url}/api/v4`, clientId, clientSecret: secret }, clock);
  const uses = { changed() {}, ended: async () => {} };
  const parts = { host, store: store.authorizations, uses, clock, log: silent };
  const authorizations = new AuthorizationService({ ...parts, pending: store.pendingAuthorizations });
  authorizations.servedAt(CALLBACK);
  const tokens = new UserTokens({ ...parts, replicas: store.replicas });
  const remotes = new ProviderRemotes(authorizations, tokens);
  const authorize = async () => {
    const { searchParams } = await server.authorize((await authorizations.startBrowser(alice)).url, 'ada');
    return authorizations.complete(searchParams.get('state') ?? '', searchParams.get('code') ?? '');
  };
  /** The error that a refusal by the remote would mean. */
  const refusal = async (path: string, purpose: typeof reads | typeof pushes = reads) =>
    (await remotes.access(alice, parseGitUrl(`${url}/${path}`), purpose))?.explain?.();
  const pass = (ms: number) => {
    now += ms;
  };
  return { server, authorizations, tokens, remotes, authorize, refusal, pass };
}

it('a browser that is sent there and back authorizes the service', async () => {
  const { authorizations, authorize } = await start();
  expect(await authorize()).toMatchObject({
    outcome: { status: 'authorized', account: { id: '1', login: 'ada' } },
  });
  expect(await authorizations.list(alice)).toMatchObject([{ tokens: { scopes: ['api'] } }]);
});

it('a code that is typed in there does, and is polled for no faster than it says', async () => {
  const { server, authorizations, pass } = await start();
  const { id, userCode, verificationUrl } = await authorizations.startDevice(alice);
  expect(verificationUrl).toBe(`${server.url}/oauth/device`);
  pass(6_000);
  expect(await authorizations.poll(alice, id)).toMatchObject({ status: 'pending' });
  server.enter(userCode, 'ada');
  pass(20_000);
  expect(await authorizations.poll(alice, id)).toMatchObject({ status: 'authorized' });
});

it('a token is renewed before its two hours are over, and each refresh token works once', async () => {
  const { authorize, tokens, pass } = await start();
  await authorize();
  const first = await tokens.current(alice);
  pass(2 * HOUR);
  const second = await tokens.current(alice);
  pass(2 * HOUR);
  const third = await tokens.current(alice);
  const values = [first, second, third].map((each) => each?.tokens.accessToken);
  expect(new Set(values.filter((value) => value !== undefined)).size).toBe(3);
});

it('a revocation ends the token there', async () => {
  const { server, authorizations, authorize } = await start();
  await authorize();
  expect(await authorizations.revoke(alice)).toMatchObject({ atProvider: true, account: { login: 'ada' } });
  expect(server.tokens.size).toBe(0);
});

it('a remote opens with the user’s token, by the user name that GitLab takes beside it', async () => {
  const { server, authorize, remotes } = await start();
  await authorize();
  const access = await remotes.access(alice, parseGitUrl(`${server.url}/acme/web/site.git`), reads);
  expect(access?.login).toEqual({ username: 'oauth2', password: [...server.tokens.keys()][0] });
  expect(await remotes.access(alice, parseGitUrl('https://gitlab.com/acme/site'), reads)).toBeNull();
});

it('a refusal names what is missing: the authorization, the project, the right to push, the scope', async () => {
  const { server, authorize, refusal } = await start();
  expect(await refusal('acme/site.git')).toMatchObject({
    ...{ code: 'authorization_required', fields: { hint: expect.stringContaining('sandhaven auth gitlab') } },
  });
  await authorize();
  server.projects.set('acme/web/site', { visibility: 'private', members: { ada: 20 } });
  server.projects.set('acme/web/own', { visibility: 'private', members: { ada: 30 } });
  expect(await refusal('acme/web/none.git')).toMatchObject({ code: 'not_found' });
  expect(await refusal('site.git')).toMatchObject({ code: 'not_found' });
  const denied = (words: string) => ({
    ...{ code: 'permission_denied', message: expect.stringContaining(words) },
  });
  expect(await refusal('acme/web/site.git', pushes)).toMatchObject(
    denied('may read this repository but not'),
  );
  expect(await refusal('acme/web/own.git', pushes)).toMatchObject(denied('does not let Sandhaven push'));
  for (const token of server.tokens.values()) token.scope = 'read_user';
  expect(await refusal('acme/web/own.git')).toMatchObject(denied('lacks the scope api'));
  server.tokens.clear();
  expect(await refusal('acme/web/own.git')).toMatchObject({ code: 'authorization_required' });
});

it('a wrong client secret is the operator’s to correct', async () => {
  const { authorize } = await start('another');
  await expect(authorize()).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { hint: expect.stringContaining('check the client id and the client secret') },
  });
});

it('a path names a project in groups, with or without an ending', () => {
  const site = { owner: 'acme/web', name: 'site' };
  for (const path of ['/acme/web/site', '/acme/web/site.git', '//acme/web/site.wiki.git/']) {
    expect(projectOfPath(path), path).toEqual(site);
  }
  for (const path of ['/', '/site', '/a//b', '/a/../b', '/a/b c', '/a/.git', `/${'a/'.repeat(21)}b`]) {
    expect(projectOfPath(path), path).toBeNull();
  }
});
