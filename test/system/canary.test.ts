/**
 * A secret of each kind that the service is told or hands out, and then a search for all of them wherever none may be:
 * data directory, logs, errors, the sandbox's disk, and every process inside.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { found, foundInMemory, grep, pidsInside, read, shownBy } from '../support/canaries/search.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { tracesOf } from '../support/host.ts';
import { type Answer, call, must, type Service, startService } from '../support/service.ts';

const run = promisify(execFile);
const PORT = 8123;
const canary = (kind: string) => `canary-${kind}-${'7f3a91c2e5'.repeat(2)}`;

/** What the caller tells. */
const apiKey = canary('api-key');
const password = canary('password');
const variable = canary('variable');
const typed = canary('typed');
/** What the caller is told. */
const given: Record<string, string> = {};

let service: Service;
let remote: GitServer;
let sandbox: string;
let folder: string;
const answers: { what: string; answer: Answer }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-canary-'));
  remote = await startGitServer({ username: 'me', password });
  service = await startService({ env: { SANDBOX_API_KEY: apiKey } });
  await useEverything();
}, 240_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a secret is nowhere but where it belongs', () => {
  it('[SBX-SSH-04] the log of the service has none', () => {
    expect(found(Buffer.from(service.log()), everySecret())).toEqual([]);
  });

  it('the data directory, the disk of the sandbox included, has none', () => {
    const patterns = join(folder, 'patterns');
    writeFileSync(patterns, Object.values(everySecret()).join('\n'));
    // Files of the pool and of images are as they were made before any of this.
    const search = ['--recursive', '--text', '--fixed-strings', '--files-with-matches', '--file', patterns];
    const left = ['--exclude-dir=pool', '--exclude-dir=images'];
    expect(grep([...search, ...left, service.dataDir])).toBe('');
    writeFileSync(join(folder, 'control'), `x${password}x`);
    expect(grep([...search, folder])).toContain('control');
  });

  it('no answer to a call that failed has one', () => {
    const failures = answers.filter(({ answer }) => answer.status >= 400);
    expect(failures.length).toBeGreaterThan(8);
    for (const { what, answer } of failures) {
      expect(found(Buffer.from(JSON.stringify(answer.body)), everySecret()), what).toEqual([]);
    }
  });

  it('[WIRE-GIT-14] no process inside has one, in arguments, environment or memory', async () => {
    const { variable: _, typed: __, signed: ___, ...foreign } = everySecret();
    expect((await tracesOf(service.dataDir)).cgroups).toContain(sandbox);
    const processes = pidsInside(sandbox);
    expect(processes.length).toBeGreaterThan(3);
    for (const pid of processes) {
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
      expect(found(shownBy(pid), foreign), `arguments or environment of ${name}`).toEqual([]);
      expect(foundInMemory(pid, foreign), `memory of ${name}`).toEqual([]);
    }
    // The search does find what is there: the variable that the caller gave to the sandbox's programs.
    expect(processes.some((pid) => foundInMemory(pid, { variable }).length > 0)).toBe(true);
  });

  it('PID 1 inside shows no variable of the sandbox', async () => {
    const { stdout } = await shell('tr "\\0" "\\n" < /proc/1/environ; tr "\\0" " " < /proc/1/cmdline');
    expect(found(Buffer.from(stdout), everySecret())).toEqual([]);
  });

  it('no other program of the host shows one in its arguments', () => {
    const seen = globSync('/proc/[0-9]*/cmdline').filter(
      (file) => found(read(file), everySecret()).length > 0,
    );
    expect(seen).toEqual([]);
  });
});

/** Every secret is used as intended, and given to calls that fail. */
async function useEverything(): Promise<void> {
  const made = await must(service, 'CreateSandbox', { env_vars: { SETTING: variable }, disk_gb: 1 });
  sandbox = String(made['id']);
  await work();
  await fail();
  await must(service, 'RunCommand', { sandbox, command: 'sync' });
}

async function work(): Promise<void> {
  const url = remote.create('private', { 'a.txt': 'a\n' });
  await must(service, 'GitClone', { sandbox, url, username: 'me', password });
  await must(service, 'RunCommand', { sandbox, command: 'echo b >> a.txt', cwd: 'private' });
  const at = { sandbox, path: 'private' };
  await must(service, 'GitAdd', { ...at, files: ['.'] });
  await must(service, 'GitCommit', { ...at, message: 'b', author_name: 'n', author_email: 'e@example.org' });
  await must(service, 'GitPush', at);
  await must(service, 'GitPull', at);

  const { session_id } = await must(service, 'CreateSession', { sandbox });
  const begin = (command: string) =>
    must(service, 'RunSessionCommand', { sandbox, session_id, command, async_exec: true });
  const { command_id } = await begin('read -s -r word; unset word');
  await must(service, 'SendSessionInput', { sandbox, session_id, command_id, input: typed });
  await begin(`python3 -m http.server ${PORT}`);
  const listens = async () => {
    const { ports } = await must(service, 'ListPorts', { sandbox });
    return (ports as { port: number }[]).some(({ port }) => port === PORT);
  };
  await vi.waitUntil(listens, { timeout: 30_000, interval: 100 });

  const standard = await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT });
  given['standard'] = String(standard['token']);
  const headers = { 'x-sandbox-preview-token': given['standard'] };
  expect((await visit(String(standard['url']), headers)).status).toBe(200);
  const signed = await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT, signed: true });
  given['signed'] = new URL(String(signed['url'])).hostname.split('.')[0]?.split('-')[1] ?? '';
  expect((await visit(String(signed['url']), {})).status).toBe(200);

  const access = await must(service, 'CreateSshAccess', { sandbox });
  given['ssh'] = String(access['access_token']);
  expect(await ssh(access, 'echo in')).toBe('in\n');
}

/** Wrong in as many ways as there are places where a secret is taken. */
async function fail(): Promise<void> {
  const { port } = remote;
  const attempt = async (what: string, tool: string, parameters: Record<string, unknown>, key = apiKey) => {
    answers.push({ what, answer: await call({ ...service, apiKey: key }, tool, parameters) });
  };
  const clone = { sandbox, username: 'me', password };
  await attempt('no such key', 'WhoAmI', {}, `${apiKey}x`);
  await attempt('no repository', 'GitClone', { ...clone, url: `http://127.0.0.1:${port}/none.git` });
  await attempt('password in the URL', 'GitClone', {
    sandbox,
    url: `http://me:${password}@127.0.0.1:${port}/a`,
  });
  await attempt('nobody listens', 'GitClone', { ...clone, url: 'http://127.0.0.1:9/a.git' });
  await attempt('ssh with a password', 'GitClone', { ...clone, url: 'ssh://git@127.0.0.1/a.git' });
  await attempt('wrong password', 'GitClone', {
    ...clone,
    password: `${password}x`,
    path: 'other',
    url: `http://127.0.0.1:${port}/private.git`,
  });
  await attempt('a password of the wrong type', 'GitClone', {
    ...clone,
    password: [password],
    url: 'http://h/a',
  });
  await attempt('a variable that cannot be', 'CreateSandbox', { env_vars: { 'A B': variable } });
  await attempt('a variable in a call that fails', 'RunCommand', {
    sandbox,
    command: '',
    env: { A: variable },
  });
  await attempt('a secret as a session', 'SendSessionInput', {
    sandbox,
    session_id: 'none',
    command_id: 'cmd_0000000000000000',
    input: typed,
  });
  const url = `http://${PORT}-${given['signed']}x.localhost`;
  const refused = await visit(`${url}:${new URL(await previewOrigin()).port}/`, {});
  answers.push({ what: 'a wrong preview', answer: { status: refused.status, body: { text: refused.text } } });
}

async function previewOrigin(): Promise<string> {
  return String((await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT }))['url']);
}

function everySecret(): Record<string, string> {
  return { apiKey, password, variable, typed, ...given };
}

async function shell(command: string): Promise<{ stdout: string }> {
  const result = await must(service, 'RunCommand', { sandbox, command });
  return { stdout: String(result['stdout']) };
}

/** By the host's loopback, since only browsers know names below localhost by themselves. */
function visit(url: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const { host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, headers: { host, ...headers } }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: await text(answer) });
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function ssh(access: Record<string, unknown>, command: string): Promise<string> {
  const { host, port, access_token, host_key } = access;
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, `[${host}]:${port} ${host_key}\n`);
  const options = ['-F', 'none', '-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'BatchMode=yes'];
  const { stdout } = await run('ssh', [...options, '-p', String(port), `${access_token}@${host}`, command]);
  rmSync(knownHosts);
  return stdout;
}
