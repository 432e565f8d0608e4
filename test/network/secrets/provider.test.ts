/**
 * A sandbox that calls the code-hosting provider as its owner, without the token: by the API and by git, through a renewal of
 * the token and to the end of the authorization. All in network namespaces, with the provider outside.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { found, foundInMemory, grep, pidsInside, shownBy } from '../../support/canaries/search.ts';
import { clientId, clientSecret } from '../../support/code-host/code-host.ts';
import { lookInside } from './look-inside.ts';
import type { Act } from './provider-outside.ts';
import { HOST, Stage } from './stage.ts';

const URL = `https://${HOST}`;
const API = `${URL}/api/v3`;

let stage: Stage;
let provider: ChildProcess;
let lines: Interface;
let sandbox: string;
let without: string;
let placeholder: string;
/** Requests that the provider has got. */
const requests: { url: string; authorization: string | null }[] = [];

beforeAll(async () => {
  stage = await Stage.open();
  provider = await stage.startServer('provider-outside.ts');
  lines = createInterface({ input: provider.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => {
    const seen = JSON.parse(line);
    if ('url' in seen) requests.push(seen);
  });
  await stage.startService({
    NODE_EXTRA_CA_CERTS: join(stage.folder, 'ca.pem'),
    SANDHAVEN_GITHUB_URL: URL,
    SANDHAVEN_GITHUB_CLIENT_ID: clientId,
    SANDHAVEN_GITHUB_CLIENT_SECRET: clientSecret,
  });
  await authorize();
  await act('CreateProviderSecret');
  const size = { cpu: 1, memory_gb: 1, disk_gb: 1, network: { allow: [URL] } };
  sandbox = String((await stage.tool('CreateSandbox', { ...size, secrets: ['github'] }))['id']);
  without = String((await stage.tool('CreateSandbox', size))['id']);
  placeholder = await run('echo "$GITHUB_TOKEN"');
}, 240_000);

afterAll(() => stage?.[Symbol.asyncDispose]());

describe('a sandbox that is given the secret', () => {
  it('has a placeholder, where gh and users of Octokit look for a token', () => {
    expect(placeholder).toMatch(/^sandhaven-secret-[0-9a-f]{32}$/);
  });

  it.each([
    ['without credentials', ''],
    ['with a bearer token', '-H "Authorization: Bearer $GITHUB_TOKEN"'],
    ['as gh and Octokit write it', '-H "Authorization: token $GITHUB_TOKEN"'],
  ])('asks the API who it is, %s', async (_, flags) => {
    expect(await whoAmI(flags)).toEqual({ id: 1, login: 'ada' });
    expect(requests.at(-1)?.authorization).toMatch(new RegExp(`^(Bearer|token) ${await token()}$`));
  });

  it.each([
    ['without credentials', `${URL}/ada/secret.git`],
    ['with the placeholder in the URL', `https://x-access-token:$GITHUB_TOKEN@${HOST}/ada/secret.git`],
  ])('clones a private repository and pushes to it with its own git, %s', async (_, url) => {
    const log = await run(`rm -rf /root/own && git clone -q ${url} /root/own && cd /root/own &&
      git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m more &&
      git push -q origin HEAD:main && git log --oneline origin/main | wc -l`);
    expect(Number(log)).toBeGreaterThan(1);
    const basic = Buffer.from(`x-access-token:${await token()}`).toString('base64');
    expect(requests.at(-1)?.authorization).toBe(`Basic ${basic}`);
  });

  it('is alone with it: another sandbox of its owner, with the same placeholder, is nobody', async () => {
    const authorization = `-H "Authorization: Bearer ${placeholder}"`;
    const answer = await stage.run(without, `curl -sS --insecure ${authorization} ${API}/user`);
    expect(JSON.parse(answer)).toEqual({ message: 'Bad credentials' });
    expect(await stage.run(without, 'echo "[$GITHUB_TOKEN]"')).toBe('[]');
  });
});

describe('the token', () => {
  it('is found by nobody who looks as root inside, and in no process as the host sees it', async () => {
    const canaries = canariesOf(await token());
    await run(`sleep 600 >/dev/null 2>&1 & curl -sS -i ${API}/user > /root/answer`);
    for (const pid of pidsInside(sandbox)) {
      expect(found(shownBy(pid), canaries), `shown by ${pid}`).toEqual([]);
      expect(foundInMemory(pid, canaries), `memory of ${pid}`).toEqual([]);
    }
    for (const canary of Object.values(canaries)) {
      const { looked, places } = await lookInside(run, canary);
      expect(looked).toBeGreaterThan(100);
      expect(places).toEqual([]);
    }
    await run('echo "$GITHUB_TOKEN" > /root/placeholder');
    expect((await lookInside(run, placeholder)).places).toContain('/root/placeholder');
  });

  it('is in no arguments and no environment of a program of the host', async () => {
    const canaries = canariesOf(await token());
    const pids = globSync('/proc/[0-9]*').map((folder) => Number(folder.split('/')[2]));
    expect(pids.filter((pid) => found(shownBy(pid), canaries).length > 0)).toEqual([]);
  });

  it('is in nothing that the service has written, and in none of its answers', async () => {
    await run('sync');
    const { service, folder } = stage;
    const canaries = canariesOf(await token());
    const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
    const patterns = join(folder, 'patterns');
    writeFileSync(patterns, Object.values(canaries).join('\n'));
    const search = ['--recursive', '--text', '--fixed-strings', '--files-with-matches', '--file', patterns];
    // As in the test of other secrets: images are older, one disk stands for both, and pins are no files.
    const skip = ['pool', 'images', without].map((name) => `--exclude-dir=${name}`);
    const pins = ['net', 'user'].map((name) => `--exclude=${name}`);
    expect(
      grep([...search, ...skip, ...pins, '--devices=skip', service.dataDir, `/run/sandhaven-${instance}`]),
    ).toBe('');
    const answers = [await act('ListSecrets'), await act('ListAuthorizations'), await act('ListAudit')];
    expect(found(Buffer.from(JSON.stringify([answers, service.log()])), canaries)).toEqual([]);
  });

  it('is renewed, and the new one is used without a change inside', async () => {
    const old = await token();
    // As if its eight hours were nearly over: any work for the user at the provider renews it then.
    const soon = Date.now() + 60_000;
    await stage.service.changeStore(`UPDATE provider_authorizations SET access_expires_at = ${soon}`);
    await stage.tool('GitClone', { sandbox, url: `${URL}/ada/secret.git`, path: '/root/by-the-service' });
    const { tokens } = await does({ forget: old });
    expect(tokens).toHaveLength(1);
    expect(tokens[0]).not.toBe(old);
    await expect
      .poll(() => whoAmI('-H "Authorization: Bearer $GITHUB_TOKEN"'))
      .toEqual({ id: 1, login: 'ada' });
    expect(requests.at(-1)?.authorization).toBe(`Bearer ${tokens[0]}`);
    expect(await run('echo "$GITHUB_TOKEN"')).toBe(placeholder);
  });

  it('is in force after the service was killed', async () => {
    await stage.service.kill();
    await stage.service.restart();
    await expect.poll(() => whoAmI('')).toEqual({ id: 1, login: 'ada' });
  });
});

describe('a revoked authorization', () => {
  it('is used by no request from the end of the call on, and the placeholder stands for nothing', async () => {
    const { secrets } = await does({ look: true });
    await act('RevokeAuthorization');
    const seen = requests.length;
    // The provider itself answers now, whom nobody inside knows.
    await expect(whoAmI('')).rejects.toThrow();
    const authorization = '-H "Authorization: Bearer $GITHUB_TOKEN"';
    expect(await whoAmI(`--insecure ${authorization}`)).toEqual({ message: 'Bad credentials' });
    expect(await run(`git -c http.sslVerify=false ls-remote ${URL}/ada/secret.git 2>&1 || true`)).toMatch(
      /could not read Username|Authentication failed/,
    );
    const later = JSON.stringify(requests.slice(seen));
    expect(later).toContain(placeholder);
    for (const secret of secrets) expect(later).not.toContain(secret);
  });

  it('and a new one is in force in the same sandbox, under the same placeholder', async () => {
    await authorize();
    await expect.poll(() => whoAmI('')).toEqual({ id: 1, login: 'ada' });
    expect(await run('echo "$GITHUB_TOKEN"')).toBe(placeholder);
  });
});

const run = (command: string) => stage.run(sandbox, command);
const act = (name: string, parameters: object = {}) => stage.must(`/v1/admin/${name}`, parameters);
const whoAmI = async (flags: string) =>
  JSON.parse(await run(`curl -sS --max-time 10 ${flags} ${API}/user 2>/dev/null`));

/** The one token that the provider takes. */
async function token(): Promise<string> {
  const { tokens } = await does({ look: true });
  expect(tokens).toHaveLength(1);
  return tokens[0] ?? '';
}

/** Returns the tokens that the provider takes, and all that it ever gave away. */
async function does(what: Act): Promise<{ tokens: string[]; secrets: string[] }> {
  provider.stdin?.write(`${JSON.stringify(what)}\n`);
  for (;;) {
    const [line] = (await once(lines, 'line')) as [string];
    const seen = JSON.parse(line);
    if ('tokens' in seen) return seen;
  }
}

/** By device code, as `sandhaven auth github` does it. */
async function authorize(): Promise<void> {
  const started = await act('StartAuthorization', { method: 'device' });
  await does({ enter: String(started['user_code']) });
  const progress = { authorization_id: started['authorization_id'] };
  for (let tries = 0; tries < 20; tries++) {
    await sleep(1_100);
    if ((await act('PollAuthorization', progress))['status'] === 'authorized') return;
  }
  throw new Error('the authorization did not end');
}

/** The token, and a part of it as basic authentication has it. */
function canariesOf(token: string) {
  const encoded = Buffer.from(`x-access-token:${token}`).toString('base64').slice(24, -4);
  return { token, encoded };
}
