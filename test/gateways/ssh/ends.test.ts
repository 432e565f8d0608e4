import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../../support/service.ts';
import { type Access, accessTo, eventually, inside, makeSandbox, SshClient } from './client.ts';

let service: Service;
let client: SshClient;

beforeAll(async () => {
  service = await startService();
  client = new SshClient();
}, 120_000);

afterAll(async () => {
  client?.[Symbol.dispose]();
  await service?.stop();
}, 60_000);

describe('an open connection', () => {
  it('ends when the sandbox is stopped', async () => {
    const sandbox = await makeSandbox(service);
    const held = await hold(await accessTo(service, sandbox));
    await must(service, 'StopSandbox', { sandbox });
    expect(await held.ended).toBe(255);
    await must(service, 'DeleteSandbox', { sandbox });
  }, 60_000);

  it('ends when the sandbox is deleted, and its token is good for nothing', async () => {
    const sandbox = await makeSandbox(service);
    const access = await accessTo(service, sandbox);
    const held = await hold(access);
    await must(service, 'DeleteSandbox', { sandbox });
    expect(await held.ended).toBe(255);
    expect((await client.ssh(access, ['true'])).stderr).toContain('Permission denied');
  }, 60_000);

  it('[SBX-SSH-05] ends when the service is stopped, and the sandbox goes on; the next one when its token expires, with its programs, and the token opens none afterwards', async () => {
    const sandbox = await makeSandbox(service);
    const access = await accessTo(service, sandbox);
    const before = await hold(access);
    await service.terminate();
    expect(await before.ended).toBe(255);
    const expiresAt = Date.now() + 8_000;
    const change = `UPDATE access_tokens SET expires_at = ${expiresAt} WHERE sandbox_id = '${sandbox}'`;
    await service.changeStore(change);
    await service.restart();
    expect(await runs(sandbox)).toBe(false);
    const { port } = await accessTo(service, sandbox);
    const held = await hold({ ...access, port });
    expect(await held.ended).toBe(255);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    expect(held.said()).toContain('has expired');
    await eventually('its program has ended', async () => !(await runs(sandbox)));
    expect((await client.ssh({ ...access, port }, ['true'])).stderr).toContain('Permission denied');
    await must(service, 'DeleteSandbox', { sandbox });
  }, 90_000);
});

describe('a client that vanishes', () => {
  let sandbox: string;

  beforeAll(async () => {
    sandbox = await makeSandbox(service);
  });

  it.each([
    ['a command', [] as string[]],
    ['a terminal', ['-tt']],
  ])(
    'takes %s with it',
    async (_, flags) => {
      const held = await hold(await accessTo(service, sandbox), flags);
      held.child.kill('SIGKILL');
      await eventually('its program has ended', async () => !(await runs(sandbox)));
    },
    60_000,
  );

  it('takes a program that ignores being hung up on, too', async () => {
    const held = await hold(await accessTo(service, sandbox), [], 'trap "" HUP');
    held.child.kill('SIGKILL');
    await eventually('its program has ended', async () => !(await runs(sandbox)));
  }, 60_000);

  it('leaves what was made to outlive it', async () => {
    const access = await accessTo(service, sandbox);
    const held = await hold(access, ['-tt'], 'setsid nohup sleep 5432 >/dev/null 2>&1 & sleep 1');
    held.child.kill('SIGKILL');
    await eventually('its program has ended', async () => !(await runs(sandbox)));
    expect(await inside(service, sandbox, 'pgrep -fc "^sleep 5432"; true')).toBe('1\n');
  }, 60_000);
});

interface Held {
  child: ChildProcess;
  ended: Promise<number | null>;
  said(): string;
}

/** A connection on which a command sleeps; resolves when it does. */
async function hold(access: Access, flags: string[] = [], before = 'true'): Promise<Held> {
  const args = client.arguments(access, flags, [`${before}; echo running; sleep 4321; sleep 4321`]);
  const child = client.start('ssh', args);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await eventually('the program runs', () => said.includes('running') || child.exitCode !== null);
  expect(said).toContain('running');
  return { child, ended, said: () => said };
}

async function runs(sandbox: string): Promise<boolean> {
  return (await inside(service, sandbox, 'pgrep -fc "^sleep 4321"; true')) !== '0\n';
}
