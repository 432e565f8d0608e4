/**
 * The code-hosting provider from end to end: a real service, real sandboxes and Git, and a server that speaks the
 * provider's endpoints. Authorized by browser and by device code, as OAuth app and as installed app.
 */
import { execFile } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type CodeHostServer,
  clientId,
  clientSecret,
  startCodeHost,
} from '../../support/code-host/code-host.ts';
import { startGitServer } from '../../support/git-server.ts';
import { type Answer, bin, call, must, type Service, startService } from '../../support/service.ts';
import { filesWrittenSince } from './written-files.ts';

const run = promisify(execFile);
const author = { author_name: 'Ada', author_email: 'ada@example.org' };
const answers: Answer[] = [];
const begun = new Date();
let folder: string;
let host: CodeHostServer;
let service: Service;

const keyFile = () => join(folder, 'app.pem');

function providerFlags(): string[] {
  const app = ['--github-app-id', host.state.app.id, '--github-app-slug', host.state.app.slug];
  return [
    ...['--github-url', host.url, '--github-api-url', host.apiUrl, '--github-client-id', clientId],
    ...['--github-client-secret-file', join(folder, 'secret')],
    ...(host.state.mode === 'app' ? [...app, '--github-app-private-key-file', keyFile()] : []),
    // The provider is the only host on this machine's loopback that may be cloned from.
    ...['--git-allow', 'none'],
  ];
}

async function begin(mode: 'oauth' | 'app'): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-provider-'));
  host = await startCodeHost({ mode });
  writeFileSync(join(folder, 'secret'), `${clientSecret}\n`, { mode: 0o600 });
  writeFileSync(keyFile(), host.privateKeyPem, { mode: 0o600 });
  service = await startService({ flags: providerFlags() });
  await must(service, 'CreateSandbox', { name: 'box', disk_gb: 1 });
}

async function end(): Promise<void> {
  await service?.stop();
  await host?.close();
  rmSync(folder, { recursive: true, force: true });
}

async function tool(name: string, parameters: Record<string, unknown> = {}, as: Caller = service) {
  const answer = await call(as, name, parameters);
  answers.push(answer);
  return answer.body;
}

type Caller = Pick<Service, 'url' | 'apiKey'>;

async function admin(name: string, parameters: Record<string, unknown> = {}, as: Caller = service) {
  const response = await fetch(`${as.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** Plays the person: opens the URL, allows it at the provider, agrees on the page. Gives the last page. */
async function throughBrowser(url: string, login: string): Promise<{ status: number; page: string }> {
  const asked = await fetch(await host.authorize(url, login));
  return agree(await asked.text());
}

async function agree(page: string): Promise<{ status: number; page: string }> {
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
  const [, action = ''] = /<form method="post" action="([^"]+)">/.exec(page) ?? [];
  const response = await fetch(`${service.url}${action}`, {
    method: 'POST',
    headers: { origin: service.url },
    body: new URLSearchParams({ state: field('state'), code: field('code') }),
  });
  return { status: response.status, page: await response.text() };
}

async function cli(args: string[], onLine: (line: string) => void = () => {}) {
  const env = { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  const running = run(bin, args, { env });
  running.child.stderr?.on('data', (chunk) => onLine(String(chunk)));
  return running;
}

async function changed(path: string): Promise<void> {
  await must(service, 'WriteFile', { path: `${path}/new.txt`, content: `${Math.random()}\n` });
  await must(service, 'GitAdd', { path, files: ['.'] });
  await must(service, 'GitCommit', { path, message: 'new', ...author });
}

const headOf = (name: string) => host.git.git(name, 'rev-parse', 'main').trim();
const shown = () => JSON.stringify(answers);

describe('as an OAuth app', () => {
  beforeAll(() => begin('oauth'), 120_000);
  afterAll(end);
  afterEach(() => {
    host.state.asked.length = 0;
  });

  it('everybody’s repository is cloned without an authorization', async () => {
    const url = host.repository('ada/open', { isPrivate: false });
    expect(await tool('GitClone', { url })).toMatchObject({ path: 'open', branch: 'main' });
    expect(await tool('GitPull', { path: 'open' })).toMatchObject({ updated: false });
    await changed('open');
    expect(await tool('GitPush', { path: 'open' })).toMatchObject({ code: 'authorization_required' });
  });

  it('[SBX-GIT-06, SBX-GIT-25, SBX-GIT-26, WIRE-ERR-07] a private one asks for it once, by a URL, and ignores a password', async () => {
    const url = host.repository('ada/secret');
    const asked = await tool('GitClone', { url, username: 'ada', password: 'canary-password' });
    expect(asked).toMatchObject({ code: 'authorization_required', status: 401 });
    expect(await tool('ListFiles', { pattern: 'secret' })).toMatchObject({ total_count: 0 });
    const authorization = String(asked['authorization_url']);
    const atTerminal = cli(['call', 'Sandbox.GitClone', '--url', url]).catch((error) => error);
    expect(await atTerminal).toMatchObject({ code: 3, stderr: expect.stringContaining(authorization) });
    expect(new URL(authorization).searchParams.get('scope')).toBe('repo');
    const { status, page } = await throughBrowser(authorization, 'ada');
    expect({ status, page }).toMatchObject({ status: 200, page: expect.stringContaining('as ada') });
    expect(await tool('GitClone', { url, username: 'x', password: 'canary-password' })).toMatchObject({
      path: 'secret',
      sha: headOf('ada/secret'),
    });
    await changed('secret');
    expect(await tool('GitPush', { path: 'secret' })).toMatchObject({ pushed: true });
    host.git.commit('ada/secret', { 'more.txt': 'more\n' });
    expect(await tool('GitPull', { path: 'secret' })).toMatchObject({
      updated: true,
      sha: headOf('ada/secret'),
    });
    expect(host.state.asked).toContain('git by ada');
  });

  it('the page names its user, changes nothing by itself, and works once', async () => {
    const { authorization_url: url } = await admin('StartAuthorization', { method: 'browser' });
    const back = await host.authorize(String(url), 'bob');
    const asked = await fetch(back);
    const page = await asked.text();
    expect(page).toContain('admin@localhost');
    expect(asked.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(asked.headers.get('referrer-policy')).toBe('same-origin');
    expect((await fetch(back)).status).toBe(200);
    expect(host.state.asked).not.toContain('exchange');
    const foreign = await fetch(back.split('?')[0] ?? '', {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      body: new URL(back).searchParams,
    });
    expect(foreign.status).toBe(403);
    expect((await agree(page)).status).toBe(200);
    expect(await agree(page)).toMatchObject({ status: 400, page: expect.stringContaining('used already') });
    expect((await fetch(back)).status).toBe(400);
    for (const query of [
      '',
      '?code=x',
      '?state=x',
      `?state=${'x'.repeat(43)}&code=x`,
      '?state=<b>&code=<b>',
    ]) {
      const wrong = await fetch(`${service.url}/auth/github/callback${query}`);
      expect([wrong.status, await wrong.text()], query).toEqual([400, expect.not.stringContaining('<b>')]);
    }
    expect((await fetch(`${service.url}/auth/other/callback?state=x&code=x`)).status).toBe(401);
  });

  it('by device code at a terminal, seen and taken back there', async () => {
    host.state.tokenSeconds = 1;
    const { stdout } = await cli(['auth', 'github', '--device'], (line) => {
      const [, code] = /enter the code (\S+?)\./.exec(line) ?? [];
      if (code) host.enter(code, 'ada');
    });
    expect(stdout).toBe('Authorized as ada.\n');
    expect((await cli(['auth', 'github', '--status'])).stdout).toContain('ada');
    const status = JSON.parse((await cli(['auth', 'github', '--status', '--json'])).stdout);
    expect(status).toMatchObject({
      authorizations: [{ provider: host.url, account: { login: 'ada' }, scopes: ['repo'] }],
    });
  });

  it('tokens that end are renewed by themselves, without anybody noticing', async () => {
    const url = host.repository('ada/long');
    for (const path of ['long-1', 'long-2'])
      expect(await tool('GitClone', { url, path })).toMatchObject({ path });
    expect(host.state.asked.filter((what) => what === 'refresh').length).toBeGreaterThan(1);
  });

  it('an authorization, and one under way by browser or by device code, outlive a restart of the service', async () => {
    const browser = await admin('StartAuthorization', { method: 'browser' });
    const device = await admin('StartAuthorization', { method: 'device' });
    await service.restart();
    expect(await tool('GitPull', { path: 'long-1' })).toMatchObject({ updated: false });
    host.state.tokenSeconds = null;
    await tool('GitPull', { path: 'long-1' });
    const stateOf = ({ authorization_url: url }: Record<string, unknown>) =>
      new URL(String(url)).searchParams.get('state');
    const again = await admin('StartAuthorization', { method: 'browser' });
    expect(stateOf(again)).toBe(stateOf(browser));
    expect((await throughBrowser(String(again['authorization_url']), 'ada')).status).toBe(200);
    host.enter(String(device['user_code']), 'ada');
    for (const { authorization_id } of [browser, device]) {
      await expect
        .poll(() => admin('PollAuthorization', { authorization_id }), { interval: 500, timeout: 20_000 })
        .toMatchObject({ status: 'authorized', account: { login: 'ada' } });
    }
  });

  it('another user’s authorization is not this one’s, nor the other way round', async () => {
    const { user_id: user } = await admin('CreateUser', { name: 'Bob', email: 'bob@example.org' });
    const { api_key: apiKey } = await admin('CreateKey', { name: 'test', user });
    const bob = { url: service.url, apiKey: String(apiKey) };
    await tool('CreateSandbox', { name: 'bobs', disk_gb: 1 }, bob);
    const url = `${host.url}/ada/secret.git`;
    const asked = await tool('GitClone', { url }, bob);
    expect(asked).toMatchObject({ code: 'authorization_required' });
    expect(await admin('ListAuthorizations', {}, bob)).toEqual({ authorizations: [] });
    const { authorization_id } = await admin('StartAuthorization', { method: 'browser' });
    expect(await admin('PollAuthorization', { authorization_id }, bob)).toMatchObject({ code: 'not_found' });
    const { page } = await throughBrowser(String(asked['authorization_url']), 'bob');
    expect(page).toContain('bob@example.org');
    expect(await tool('GitClone', { url }, bob)).toMatchObject({ code: 'not_found', resource: 'repository' });
    expect(await admin('ListAuthorizations')).toMatchObject({
      authorizations: [{ account: { login: 'ada' } }],
    });
    // Another replica may write its row a moment later.
    const noted = () => admin('ListAudit', { action: 'provider.authorize', user });
    await expect.poll(noted).toMatchObject({ rows: [{ user_id: user, outcome: 'ok' }] });
  });

  it('too few permissions, and a revoked authorization, are named', async () => {
    const url = host.repository('bob/shared', { readers: ['ada', 'bob'] });
    await tool('GitClone', { url });
    await changed('shared');
    expect(await tool('GitPush', { path: 'shared' })).toMatchObject({
      code: 'permission_denied',
      detail: expect.stringContaining('contents: write'),
    });
    host.revokeAll('ada');
    expect(await tool('GitPull', { path: 'shared' })).toMatchObject({
      code: 'authorization_required',
      authorization_url: expect.stringContaining(`${host.url}/login/oauth/authorize?`),
    });
    expect(await admin('ListAuthorizations')).toEqual({ authorizations: [] });
    await expect(cli(['auth', 'github', '--revoke'])).rejects.toMatchObject({ code: 4 });
  });

  it('[WIRE-GIT-14] no secret is in an answer, in the log, on disk or in an argument', async () => {
    const secrets = [...host.state.secrets, clientSecret];
    expect(secrets.length).toBeGreaterThan(10);
    const stored = await service.storeText();
    const commands = globSync('/proc/[0-9]*/cmdline').map((file) => readIfThere(file));
    for (const secret of secrets) {
      expect(shown()).not.toContain(secret);
      expect(service.log()).not.toContain(secret);
      expect(stored).not.toContain(secret);
      for (const command of commands) expect(command).not.toContain(secret);
    }
    expect(stored).toContain('bob@example.org');
    await must(service, 'WriteFile', { sandbox: 'box', path: 'control', content: 'canary-control-1\n' });
    const kinds = 'token|refresh|code|device|client|password|control';
    const search = `${filesWrittenSince(begun)} | xargs -0 -r grep -slaE "canary-(${kinds})-?"`;
    const { stdout } = await must(service, 'RunCommand', { sandbox: 'box', command: search });
    expect(stdout).toBe('/workspace/control\n');
  });
});

describe('as an app that is installed', () => {
  beforeAll(() => begin('app'), 120_000);
  afterAll(end);

  it('[SBX-GIT-25, SBX-GIT-27] contents: read suffices to clone and pull, contents: write is needed to push', async () => {
    host.state.tokenSeconds = 8 * 3_600;
    const readable = host.repository('ada/readable', { installed: 'read' });
    const asked = await tool('GitClone', { url: readable });
    expect(asked).toMatchObject({ code: 'authorization_required' });
    const page = await throughBrowser(String(asked['authorization_url']), 'ada');
    expect(page.status).toBe(200);
    expect(await tool('GitClone', { url: readable })).toMatchObject({ path: 'readable' });
    expect(await tool('GitPull', { path: 'readable' })).toMatchObject({ updated: false });
    expect(host.state.asked).toContain('git by installation, read');
    await changed('readable');
    expect(await tool('GitPush', { path: 'readable' })).toMatchObject({
      code: 'permission_denied',
      detail: expect.stringContaining('contents: write'),
    });
    const writable = host.repository('ada/writable', { installed: 'write' });
    await tool('GitClone', { url: writable });
    await changed('writable');
    expect(await tool('GitPush', { path: 'writable' })).toMatchObject({ pushed: true });
    expect(host.state.asked).toContain('git by installation, write');
  });

  it('a repository without the app shows where to install it; one taken back asks again', async () => {
    const url = host.repository('ada/without');
    expect(await tool('GitClone', { url })).toMatchObject({
      code: 'authorization_required',
      authorization_url: `${host.url}/apps/${host.state.app.slug}/installations/new`,
    });
    expect(JSON.parse((await cli(['auth', 'github', '--revoke', '--json'])).stdout)).toMatchObject({
      account: { login: 'ada' },
      revoked_at_provider: true,
    });
    expect(await tool('GitPull', { path: 'readable' })).toMatchObject({ code: 'authorization_required' });
  });

  it('a host of the operator’s network is reached only if it is allowed', async () => {
    const remote = await startGitServer({ username: 'ada', password: 'canary-password' });
    try {
      const url = remote.create('strict', { a: 'a' });
      const asked = await tool('GitClone', { url, username: 'ada', password: 'canary-password' });
      expect(asked).toMatchObject({
        code: 'permission_denied',
        hint: expect.stringContaining('--git-allow'),
      });
      expect(remote.requests).toEqual([]);
    } finally {
      await remote.close();
    }
  });

  it('a key file that others can read is refused at the start', async () => {
    chmodSync(keyFile(), 0o644);
    const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-provider-data-'));
    await expect(startService({ flags: providerFlags(), dataDir })).rejects.toThrow(
      /can be read by other users/,
    );
    rmSync(dataDir, { recursive: true, force: true });
  });
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
