import { existsSync, globSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replicaCount } from '../../support/cluster-engine/differences.ts';
import { bin, call, must, type Service, startService } from '../../support/service.ts';
import { type Access, accessTo, eventually, makeSandbox, SshClient } from './client.ts';

const EXPIRES_MINUTES_MAX = 5_256_000;
const STRANGERS_PER_NETWORK = 32;
const LOGIN_MS = 30_000;

let service: Service;
let sandbox: string;
let client: SshClient;

beforeAll(async () => {
  service = await startService();
  client = new SshClient();
  sandbox = await makeSandbox(service);
}, 120_000);

afterAll(async () => {
  client?.[Symbol.dispose]();
  await service?.stop();
}, 60_000);

describe('Sandbox.CreateSshAccess', () => {
  it('[SBX-SSH-01] [WIRE-SSH-01] gives all that is needed to log in, and the command that does', async () => {
    const access = await accessTo(service, sandbox);
    expect(access).toEqual({
      host: '127.0.0.1',
      port: expect.any(Number),
      username: sandbox,
      access_token: expect.stringMatching(/^[a-z2-7]{26}$/),
      host_key: expect.stringMatching(/^ssh-ed25519 AAAA\S+$/),
      expires_at: expect.any(String),
      command: `ssh -p ${access.port} ${access.access_token}@127.0.0.1`,
    });
  });

  it('[SBX-SSH-02] [SBX-SSH-03] lets a token live for an hour, for the minutes asked for, or for ever', async () => {
    const minutes = async (parameters: Record<string, unknown>) => {
      const { expires_at } = await accessTo(service, sandbox, parameters);
      return expires_at === null ? null : (Date.parse(expires_at) - Date.now()) / 60_000;
    };
    expect(await minutes({})).toBeCloseTo(60, 0);
    expect(await minutes({ expires_in_minutes: 5 })).toBeCloseTo(5, 0);
    expect(await minutes({ expires_in_minutes: 0 })).toBeNull();
  });

  it('[WIRE-SSH-04] [SBX-SSH-02] refuses a time below 0, or that is no integer', async () => {
    for (const minutes of [-1, 1.5, '60', EXPIRES_MINUTES_MAX + 1]) {
      const { body } = await call(service, 'CreateSshAccess', { sandbox, expires_in_minutes: minutes });
      expect(body).toMatchObject({ code: 'invalid_argument', parameter: 'expires_in_minutes' });
    }
  });

  it('has the same host key after a restart', async () => {
    const before = await accessTo(service, sandbox);
    await service.restart();
    expect((await accessTo(service, sandbox)).host_key).toBe(before.host_key);
  }, 60_000);
});

describe('logging in', () => {
  it('[WIRE-SSH-02] [SBX-SSH-05] works with the token alone, without a prompt', async () => {
    const access = await accessTo(service, sandbox);
    expect(await client.ssh(access, ['echo', 'in'])).toMatchObject({ code: 0, stdout: Buffer.from('in\n') });
  });

  it("[WIRE-SSH-02] works with the token as the password of the sandbox's id", async () => {
    const access = await accessTo(service, sandbox);
    const ran = await client.sshWithPassword(access, access.username, access.access_token, ['echo', 'in']);
    expect(ran).toMatchObject({ code: 0, stdout: Buffer.from('in\n') });
  });

  it('[WIRE-SSH-04] works with earlier tokens too', async () => {
    const earlier = await accessTo(service, sandbox);
    await accessTo(service, sandbox);
    expect((await client.ssh(earlier, ['true'])).code).toBe(0);
  });

  it('is refused with a wrong token, as a password and as a user name', async () => {
    const access = await accessTo(service, sandbox);
    const wrong = { ...access, access_token: 'a'.repeat(26) };
    const alone = await client.ssh(wrong, ['true']);
    expect(alone).toMatchObject({ code: 255, stderr: expect.stringContaining('Permission denied') });
    const password = await client.sshWithPassword(access, access.username, wrong.access_token, ['true']);
    expect(password).toMatchObject({ code: 255, stderr: expect.stringContaining('Permission denied') });
  });

  it('is refused with the token of another sandbox', async () => {
    const other = await makeSandbox(service);
    const access = await accessTo(service, other);
    const ran = await client.sshWithPassword(access, sandbox, access.access_token, ['true']);
    expect(ran.stderr).toContain('Permission denied');
    await must(service, 'DeleteSandbox', { sandbox: other });
    expect((await client.ssh(access, ['true'])).stderr).toContain('Permission denied');
  });

  it('to a stopped sandbox fails, and shows how to start it', async () => {
    const stopped = await makeSandbox(service);
    const access = await accessTo(service, stopped);
    await must(service, 'StopSandbox', { sandbox: stopped });
    const ran = await client.ssh(access, ['true']);
    expect(ran.code).toBe(255);
    expect(ran.stderr).toContain('is stopped');
    expect(ran.stderr).toContain('StartSandbox');
    await must(service, 'StartSandbox', { sandbox: stopped });
    expect((await client.ssh(access, ['true'])).code).toBe(0);
    await must(service, 'DeleteSandbox', { sandbox: stopped });
  }, 30_000);

  it('[SBX-SSH-04] leaves no token in the log, and no user name, right or wrong', async () => {
    const access = await accessTo(service, sandbox);
    const wrong = 'b'.repeat(26);
    await client.ssh(access, ['true']);
    await client.ssh({ ...access, access_token: wrong }, ['true']);
    await client.sshWithPassword(access, 'somebody-else', wrong, ['true']);
    await expect.poll(service.log).toMatch(/an SSH connection began.*"token":"tok_[0-9a-z]{16}"/);
    for (const secret of [access.access_token, wrong, 'somebody-else'])
      expect(service.log()).not.toContain(secret);
  });
});

describe('sandhaven ssh', () => {
  it('logs in with the host key pinned, and has the exit code of what it runs', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const ran = await client.run(bin, ['ssh', sandbox, '--', '-T', 'cat; pwd; exit 9'], {
      env,
      input: 'in\n',
    });
    expect(ran).toMatchObject({ code: 9, stdout: Buffer.from('in\n/workspace\n'), stderr: '' });
  });

  it('shows the token in no list of processes', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const waiting = 'echo > /tmp/inside; until test -e /tmp/go; do sleep 0.05; done';
    const running = client.run(bin, ['ssh', sandbox, '--', '-T', waiting], { env });
    const look = 'test -e /tmp/inside';
    await eventually(
      'it is inside',
      async () => (await must(service, 'RunCommand', { sandbox, command: look }))['exit_code'] === 0,
    );
    const shown = globSync('/proc/[0-9]*/cmdline')
      .map((file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\0') : []))
      .filter((args) => args[0] === 'ssh' && args.includes(sandbox));
    expect(shown).toHaveLength(1);
    expect(shown.flat().filter((argument) => /(?:^|\W)[a-z2-7]{26}(?:\W|$)/.test(argument))).toEqual([]);
    await must(service, 'RunCommand', { sandbox, command: 'touch /tmp/go' });
    expect(await running).toMatchObject({ code: 0 });
  });
});

describe('strangers', () => {
  it('are disconnected when they send rubbish, and others are served', async () => {
    const access = await accessTo(service, sandbox);
    const rubbish = [
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      Buffer.alloc(100_000, 0xff),
      Buffer.from(`SSH-2.0-x\r\n${'\0'.repeat(5_000)}`),
      Buffer.from(`SSH-2.0-${'x'.repeat(100_000)}`),
    ];
    await Promise.all(rubbish.map((bytes) => closed(access, bytes)));
    expect((await client.ssh(access, ['true'])).code).toBe(0);
  }, 60_000);

  it('are disconnected after a time when they send too little; and one too many takes the place of another', async () => {
    const access = await accessTo(service, sandbox);
    const start = performance.now();
    // The bound is of each gateway.
    const length = replicaCount * (STRANGERS_PER_NETWORK + 1);
    const ends = Array.from({ length }, () => ended(access, 'SSH-2'));
    await eventually('one has made room', async () =>
      Promise.race([...ends.map((end) => end.then(() => true)), sleep(500).then(() => false)]),
    );
    // Who has a token comes in, though the place is full.
    expect((await client.ssh(access, ['true'])).code).toBe(0);
    const lasted = (await Promise.all(ends)).toSorted((a, b) => a - b);
    const early = lasted.filter((milliseconds) => milliseconds < LOGIN_MS - 5_000);
    expect(early.length).toBeGreaterThanOrEqual(1);
    expect(early.length).toBeLessThanOrEqual(4 * replicaCount);
    expect(Math.max(...lasted)).toBeGreaterThan(LOGIN_MS - 1_000);
    expect(performance.now() - start).toBeLessThan(LOGIN_MS * 2);
    expect((await client.ssh(access, ['true'])).code).toBe(0);
  }, 120_000);

  /** Resolves when the service has ended the connection. */
  function closed(access: Access, bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(access.port, access.host);
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      socket.resume();
      socket.write(bytes);
    });
  }

  /** How long the connection lasted, in ms; at most `patience`. */
  function ended(access: Access, text: string, patience = 90_000): Promise<number> {
    const start = performance.now();
    return new Promise((resolve) => {
      const socket = connect(access.port, access.host);
      const timer = setTimeout(() => socket.destroy(), patience);
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(performance.now() - start);
      });
      socket.resume();
      socket.write(text);
    });
  }
});
