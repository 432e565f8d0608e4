/** Sandboxes outlive the service; a reboot of the machine stops them, with the reason. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { call, must } from '../support/service.ts';
import { type Installed, startInstalled } from './support/installed.ts';

let installed: Installed;

beforeAll(async () => {
  installed = await startInstalled(inject('machinePayload'));
  await tool('CreateSandbox', { name: 'counts', memory_gb: 1 });
  await tool('CreateSandbox', { name: 'passes', memory_gb: 1, ephemeral: true });
  await tool('WriteFile', { sandbox: 'counts', path: 'kept.txt', content: 'kept', durable: true });
  await inside('setsid -f sh -c "i=0; while :; do i=\\$((i+1)); echo \\$i > /tmp/count; sleep 0.1; done"');
});

afterAll(() => installed?.machine.close());

const tool = (name: string, parameters: Record<string, unknown>) => must(installed.service, name, parameters);
const inside = async (command: string) =>
  String((await tool('RunCommand', { sandbox: 'counts', command }))['stdout']);
const counted = async () => Number(await inside('cat /tmp/count'));
const pid = async () => inside('pgrep --full --oldest "while :"');

describe('a program in a sandbox goes on', () => {
  it.each([
    ['a restart', 'systemctl restart sandhaven'],
    ['a stop and a start', 'systemctl stop sandhaven && systemctl start sandhaven'],
    // systemd starts it again by itself.
    ['an end by the kernel', 'systemctl kill --signal=KILL --kill-whom=main sandhaven'],
  ])('over %s of the service', async (_, command) => {
    const [before, program] = [await counted(), await pid()];
    await installed.machine.must(command);
    await installed.ready();
    expect(await pid()).toBe(program);
    await expect.poll(counted, { timeout: 120_000 }).toBeGreaterThan(before);
  });
});

it('calls wait over a restart of the service, and none is refused', async () => {
  const call = 'curl --silent --fail --max-time 1800 --output /dev/null http://127.0.0.1:7420/healthz';
  const command = `systemctl restart sandhaven & while kill -0 $! 2> /dev/null; do ${call} || exit 1; done; wait $!`;
  await installed.machine.must(command, { timeoutMs: 3_600_000 });
});

describe('after a reboot of the machine', () => {
  beforeAll(async () => {
    await installed.machine.reboot();
    await installed.ready();
  });

  it('a sandbox is stopped, with the reason', async () => {
    expect(await call(installed.service, 'GetSandbox', { sandbox: 'counts' })).toMatchObject({
      body: { state: 'stopped', state_reason: expect.stringMatching(/\S/) },
    });
  });

  it('an ephemeral one is gone', async () => {
    expect(await call(installed.service, 'GetSandbox', { sandbox: 'passes' })).toMatchObject({ status: 404 });
  });

  it('the other starts again, with its files', async () => {
    await tool('StartSandbox', { sandbox: 'counts' });
    expect(await tool('ReadFile', { sandbox: 'counts', path: 'kept.txt' })).toMatchObject({
      content: 'kept',
    });
  });

  it('nothing of a sandbox is orphaned', async () => {
    const { id } = await tool('GetSandbox', { sandbox: 'counts' });
    const { folders, cgroups, loops } = await installed.traces();
    expect({ folders, cgroups, loops }).toEqual({ folders: [id], cgroups: [id], loops: [id] });
  });
});
