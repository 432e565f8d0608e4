/**
 * Signing in by the team's identity provider as an operator sets it up: a real service with the flags of `up`, a real
 * OpenID provider, and a browser's whole way between the two. The file with the client secret is all that has its text.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, pageOf, type Site } from '../../oidc/support/browser.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startTeamProvider,
  type TeamProvider,
} from '../../oidc/support/team-provider.ts';
import { mustAct } from '../../support/people.ts';
import { bin, freeAddresses, type Service, startService } from '../../support/service.ts';

const grace = { name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev'] };
/** The secret as it is, and as it stands in a form or a URL. */
const SECRET_TEXTS = ['which no answer may show', 'which+no+answer', 'which%20no%20answer'];

let folder: string;
let team: TeamProvider;
let service: Service;
let site: Site;

const secretFile = () => join(folder, 'client-secret');

function oidcFlags(): string[] {
  return [
    ...['--oidc-issuer', team.issuer, '--oidc-client-id', CLIENT_ID],
    ...['--oidc-client-secret-file', secretFile(), '--oidc-scopes', 'openid,email,profile,groups'],
    ...['--oidc-member-groups', 'dev,qa', '--oidc-admin-groups', 'ops'],
    ...['--oidc-email-domains', 'example.org', '--oidc-name', 'Team'],
  ];
}

function writeSecret(text: string): void {
  writeFileSync(secretFile(), `${text}\n`, { mode: 0o600 });
}

/** Registers the service at the provider, at the address that it has since its start. */
async function register(): Promise<void> {
  await team.register(service.url);
  site = { team, http: service, page: pageOf(service.url) };
}

async function whoAmI(browser: Browser): Promise<unknown> {
  const answer = await browser.go(`${service.url}/v1/tools/Sandbox.WhoAmI`, {
    method: 'POST',
    headers: { ...site.page, 'content-type': 'application/json' },
    body: '{}',
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-sign-in-'));
  team = await startTeamProvider();
  // The right one comes with the first restart.
  writeSecret('another secret, which no answer may show');
  // Of an address that names no other server of this machine: the page is there, and not at a name to be resolved. The
  // provider answers nothing but 503 until it knows that address.
  service = await startService({ flags: ['--listen', '127.0.0.2:0', ...oidcFlags()] });
  await register();
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await team?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a service with an identity provider', () => {
  it('starts without asking it, and names it among the ways of signing in', async () => {
    const ways = await fetch(`${service.url}/v1/sign-in/ways`);
    expect(await ways.json()).toEqual({ ways: ['key', 'link', 'provider'], provider: { name: 'Team' } });
    expect(team.asked).toEqual([]);
  });

  it('refuses everybody while its client secret is not the right one, and an operator learns of it', async () => {
    team.people.set('sub-1', grace);
    const refused = await new Browser().signIn(site, 'sub-1');
    expect(refused.status).toBe(412);
    const page = await refused.text();
    expect(page).toContain('The identity provider refuses this service.');
    expect(page).toContain('the client secret and the redirect URI');
    await expect.poll(service.log).toContain('"word":"invalid_client"');
    for (const text of SECRET_TEXTS) expect(service.log() + page).not.toContain(text);
    // With the right one everybody below signs in.
    writeSecret(CLIENT_SECRET);
    await service.restart();
    await register();
  }, 120_000);

  it('makes a user of whoever comes from a group, with the role of that group', async () => {
    team.people.set('sub-1', grace).set('sub-2', { ...grace, email: 'olive@example.org', groups: ['ops'] });
    const member = new Browser();
    const done = await member.signIn(site, 'sub-1', '/snapshots');
    expect([done.status, done.headers.get('location')]).toEqual([303, '/snapshots']);
    expect(await whoAmI(member)).toMatchObject({ status: 200, name: 'Grace', email: 'grace@example.org' });
    expect(await (await member.who(site)).json()).toMatchObject({ role: 'member' });
    const admin = new Browser();
    expect((await admin.signIn(site, 'sub-2')).status).toBe(303);
    expect(await whoAmI(admin)).toMatchObject({ status: 200, email: 'olive@example.org' });
    expect(await (await admin.who(site)).json()).toMatchObject({ role: 'admin' });
    const { identities } = await mustAct(service, 'ListIdentities');
    expect(identities).toMatchObject([
      { issuer: team.issuer, subject: 'sub-2' },
      { issuer: team.issuer, subject: 'sub-1' },
    ]);
  });

  it.each([
    ['of no group that is allowed', { ...grace, email: 'eve@example.org', groups: ['hall'] }],
    ['of no domain that is allowed', { ...grace, email: 'eve@elsewhere.example' }],
    ['whose address is not confirmed', { ...grace, email: 'eve@example.org', email_verified: false }],
  ])('refuses somebody %s, and makes no user', async (_who, person) => {
    team.people.set('sub-3', person);
    const browser = new Browser();
    const refused = await browser.signIn(site, 'sub-3');
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('Not signed in');
    expect(await whoAmI(browser)).toMatchObject({ status: 401, code: 'unauthenticated' });
    const { users } = await mustAct(service, 'ListUsers');
    expect(JSON.stringify(users)).not.toContain('eve@');
  });

  it('ends the sign-in of a session that the provider ends', async () => {
    let sid = '';
    team.tamper = (tokens) => {
      const claims = Buffer.from(String(tokens['id_token']).split('.')[1] ?? '', 'base64url').toString();
      sid = (JSON.parse(claims) as { sid: string }).sid;
    };
    const browser = new Browser();
    await browser.signIn(site, 'sub-1');
    team.tamper = null;
    expect(await whoAmI(browser)).toMatchObject({ status: 200 });
    await team.endSession('sub-1', sid);
    expect(await whoAmI(browser)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  it('shows the client secret in no argument, environment, log or store', async () => {
    const processes = textOfProcesses(service.pid);
    expect(processes).toContain(secretFile());
    for (const text of SECRET_TEXTS) {
      expect(processes).not.toContain(text);
      expect(service.log()).not.toContain(text);
      expect(await service.storeText()).not.toContain(text);
    }
  });
});

describe('an operator learns of', () => {
  it('a file with the secret that is missing, before anything starts', () => {
    const dataDir = join(folder, 'data');
    rmSync(secretFile());
    const { status, stderr } = spawnSync(
      bin,
      ['up', ...freeAddresses, '--data-dir', dataDir, ...oidcFlags()],
      {
        encoding: 'utf8',
      },
    );
    expect(stderr).toContain('The file of --oidc-client-secret-file cannot be read.');
    expect(stderr).toContain(secretFile());
    expect(status).toBe(5);
    writeSecret(CLIENT_SECRET);
  }, 60_000);

  it('a provider that is away: the service starts, and other ways of signing in work', async () => {
    await team.close();
    await service.restart();
    const page = pageOf(service.url);
    const browser = new Browser();
    const refused = await browser.start({ team, http: service, page });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      code: 'unavailable',
      detail: 'The identity provider does not answer.',
      hint: 'Try again in a minute. Keys and one-time links work meanwhile.',
    });
    const warning = 'the identity provider cannot be used; other ways of signing in work';
    await expect.poll(service.log).toContain(warning);
    const byKey = await browser.go(`${service.url}/v1/sign-in`, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: service.apiKey }),
    });
    expect(byKey.status).toBe(200);
    for (const text of SECRET_TEXTS) expect(service.log()).not.toContain(text);
  }, 120_000);
});

/** Arguments and environment of a process and of those that it has started. */
function textOfProcesses(pid: number): string {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) => readIfThere(file).split(' '));
  const all = [String(pid), ...children.filter(Boolean)];
  return all
    .flatMap((one) => ['cmdline', 'environ'].map((name) => readIfThere(`/proc/${one}/${name}`)))
    .join();
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
