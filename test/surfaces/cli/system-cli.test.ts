/** The command line as its users have it: processes against a real service. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bin, call, must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import { run } from '../../support/transports.ts';
import { cliFor } from './cli-harness.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});

afterAll(() => service?.stop());

async function sandboxes(): Promise<number> {
  return Number((await must(service, 'ListSandboxes'))['total_count']);
}

describe('run', () => {
  it('runs code in each language, from an argument and from standard input', async () => {
    expect(await run(['run', 'print(6 * 7)'], service)).toEqual({ code: 0, stdout: '42\n', stderr: '' });
    const typescript = await run(
      ['run', '--language', 'typescript'],
      service,
      'const n: number = 42; console.log(n)',
    );
    expect(typescript).toEqual({ code: 0, stdout: '42\n', stderr: '' });
    expect(await sandboxes()).toBe(0);
  });

  it('keeps outputs apart and exits with the status of what ran', async () => {
    const failed = await run(['run', '--', 'echo out; echo err >&2; exit 7'], service);
    expect(failed).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' });
    const quoted = await run(['run', '--', 'printf', '%s|', "it's", 'a  b', '$HOME'], service);
    expect(quoted.stdout).toBe("it's|a  b|$HOME|");
  });

  it('[WIRE-EXEC-07] exits with 124 when the time is up', async () => {
    const late = await run(['run', '--timeout', '1', '--', 'echo early; sleep 60'], service);
    expect(late).toMatchObject({
      code: 124,
      stdout: 'early\n',
      stderr: expect.stringContaining('--timeout'),
    });
  });

  it('deletes its sandbox when it is interrupted', async () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SANDBOX_API_URL: service.url,
      SANDBOX_API_KEY: service.apiKey,
    };
    const child = spawn(bin, ['run', '--', 'sleep 60'], { env, stdio: 'ignore' });
    await expect.poll(sandboxes, { timeout: 10_000 }).toBe(1);
    await sleep(300);
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(130);
    expect(await sandboxes()).toBe(0);
  });
});

describe('call, ls and rm', () => {
  // In this process, since each other one takes a quarter of a second to start.
  it('[WIRE-CLI-01] [WIRE-CLI-02] create, list, use and delete', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const cli = (...argv: string[]) => cliFor(service.url)(argv, { env });
    const created = await cli('call', 'Sandbox.CreateSandbox', '--name', 'cli box', '--json');
    expect(JSON.parse(created.stdout)).toMatchObject({ name: 'cli box', state: 'started' });
    expect((await cli('ls')).stdout).toMatch(/^cli box +sb_[0-9a-z]{16} +started/m);
    const written = await cli('call', 'Sandbox.WriteFile', '--path', 'a', '--content', 'x\ny');
    expect(written).toMatchObject({ code: 0, stdout: 'Created a: 3 bytes.\n' });
    expect((await cli('call', 'Sandbox.ReadFile', '--path', 'a', '--start-line', '2')).stdout).toBe('y\n');
    const taken = await cli('call', 'Sandbox.CreateSandbox', '--name', 'cli box');
    expect(taken).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(/^Already exists: /) });
    expect(await cli('rm', 'cli box')).toMatchObject({ code: 0, stderr: '' });
    expect((await call(service, 'GetSandbox', { sandbox: 'cli box' })).status).toBe(404);
    // The status of a whole process.
    expect((await run(['call', 'Sandbox.GetSandbox', '--sandbox', 'cli box'], service)).code).toBe(4);
  });

  it('takes the key from the data directory of the service', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-cli-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    await writeFile(join(dataDir, 'api-key'), `${service.apiKey}\n`);
    const env = { PATH: process.env['PATH'] ?? '' };
    const args = ['call', 'Sandbox.WhoAmI', '--json', '--url', service.url, '--data-dir', dataDir];
    const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    expect(JSON.parse(stdout)).toMatchObject({ user_id: expect.stringMatching(/^user_/) });
  });

  it('ends quietly when its reader has had enough', async () => {
    const child = spawn('/bin/sh', ['-c', `"${bin}" tools --json | head -c 10`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.resume();
    await new Promise((resolve) => child.once('close', resolve));
    expect(stderr).toBe('');
  });
});
