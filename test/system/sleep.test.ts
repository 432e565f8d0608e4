/** Sleep of real sandboxes: every touch wakes one, no request is lost, and the next service finds it asleep. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { purge } from '../../src/app/purge.ts';
import { type RunningService, startService as startHere } from '../../src/app/service.ts';
import { onThisHost } from '../../src/model/archive-options.ts';
import { inPart } from '../deep/parts.ts';
import { type Access, SshClient } from '../gateways/ssh/client.ts';
import { act, mustAct } from '../support/people.ts';
import { between, givenSeed, randomFrom } from '../support/random.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const TRIES = inPart('kills') ? 10_000 : 300;
const silent = { info() {}, warn() {}, error() {} };

describe('a sandbox that is paused', () => {
  let service: Service;
  let id: string;
  const sandbox = 'box';

  beforeAll(async () => {
    service = await startService();
    id = String((await must(service, 'CreateSandbox', { name: sandbox, memory_gb: 1, disk_gb: 1 }))['id']);
  }, 120_000);

  afterAll(() => service?.stop());

  const since = async () => (await must(service, 'GetSandbox', { sandbox }))['asleep_since'];
  const sleep = async () => {
    expect(await mustAct(service, 'PauseSandbox', { sandbox })).toMatchObject({
      asleep_since: expect.any(String),
    });
    expect(await since()).toEqual(expect.any(String));
  };
  const shell = async (command: string) =>
    String((await must(service, 'RunCommand', { sandbox, command }))['stdout']);

  it('is woken by a command, a file, a watch, a preview, SSH and a viewer of a process', async () => {
    const client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
    const box = client.sandbox(sandbox);
    await shell('cd /tmp && nohup python3 -m http.server 8123 >/dev/null 2>&1 & sleep 1');
    const started = await box.processes.start('sleep 1000', { tag: 'sleeper' });
    const preview = await must(service, 'GetPortPreviewUrl', { sandbox, port: 8123 });
    const access = (await must(service, 'CreateSshAccess', { sandbox })) as unknown as Access;
    using ssh = new SshClient();
    const touches: Record<string, () => Promise<unknown>> = {
      command: async () => expect(await shell('echo awake')).toBe('awake\n'),
      file: () => must(service, 'ReadFile', { sandbox, path: '/etc/hostname' }),
      preview: async () => {
        const { hostname, port } = new URL(String(preview['url']));
        const headers = { host: `${hostname}:${port}`, 'x-sandbox-preview-token': String(preview['token']) };
        const { status } = await fetchAt(`http://127.0.0.1:${port}/`, headers);
        expect(status).toBe(200);
      },
      ssh: async () => expect((await ssh.ssh(access, ['echo', 'awake'])).stdout.toString()).toBe('awake\n'),
      watch: async () => {
        for await (const { type } of client.files.watch(sandbox, '/tmp')) return expect(type).toBe('ready');
      },
      viewer: async () => {
        const abort = new AbortController();
        setTimeout(() => abort.abort(), 500);
        await started.follow({ signal: abort.signal }).catch(() => {});
      },
    };
    for (const [name, touch] of Object.entries(touches)) {
      await sleep();
      await touch();
      expect(await since(), name).toBeUndefined();
    }
    await mustAct(service, 'EndProcess', { sandbox, process: 'sleeper' });
  }, 60_000);

  it('ends calls that are open with a reason, and lets processes go on where they were', async () => {
    const before = await mustAct(service, 'StartProcess', {
      sandbox,
      command: 'for i in 1 2 3 4 5 6; do echo $i >> /root/count; sleep 0.2; done',
    });
    const running = call(service, 'RunCommand', { sandbox, command: 'sleep 30' });
    await pause(500);
    await sleep();
    expect((await running).body).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('put to sleep'),
    });
    await pause(2_000);
    expect(await since()).toEqual(expect.any(String));
    expect((await shell('cat /root/count')).split('\n').length).toBeLessThan(6);
    await expect.poll(() => shell('tail -n 1 /root/count'), { timeout: 10_000 }).toBe('6\n');
    await act(service, 'EndProcess', { sandbox, process: before['process'] });
  }, 30_000);

  it('sleeps on when the service is killed, and its end is still noticed when it is awake', async () => {
    await sleep();
    const before = await since();
    await service.kill();
    await service.restart();
    expect(await since()).toBe(before);
    await pause(6_000);
    expect(await since()).toBe(before);
    expect(await shell('echo awake')).toBe('awake\n');
    // The watch is there again within its pause.
    await pause(1_500);
    await call(service, 'RunCommand', { sandbox, command: 'kill -9 1; for p in /proc/[0-9]*; do :; done' });
    expect(await since()).toBeUndefined();
  }, 60_000);

  it('is resized and stopped while it sleeps, and a use starts it where it has wake', async () => {
    await sleep();
    expect(await must(service, 'ResizeSandbox', { sandbox, memory_gb: 2 })).toMatchObject({
      asleep_since: expect.any(String),
    });
    expect(await must(service, 'StopSandbox', { sandbox })).not.toHaveProperty('asleep_since');
    expect(await call(service, 'RunCommand', { sandbox, command: 'true' })).toMatchObject({ status: 409 });
    await mustAct(service, 'SetSandboxSleep', { sandbox, wake: true });
    expect(await shell('cat /root/count | head -n 1')).toBe('1\n');
    await must(service, 'StopSandbox', { sandbox });
    await must(service, 'ArchiveSandbox', { sandbox });
    expect(await shell('cat /root/count | head -n 1')).toBe('1\n');
  }, 60_000);

  it('is deleted while it sleeps', async () => {
    await sleep();
    await must(service, 'DeleteSandbox', { sandbox: id });
    expect(await call(service, 'GetSandbox', { sandbox: id })).toMatchObject({ status: 404 });
  });
});

/** By a name that only the preview gateway has. */
async function fetchAt(url: string, headers: Record<string, string>): Promise<{ status: number }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
    })
      .on('error', reject)
      .end();
  });
}

const seed = givenSeed();

it(`a request that comes while a sandbox falls asleep is never lost, in ${TRIES} tries (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-sleep-'));
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => now };
  const apiKey = 'test-key-for-sleep';
  const service: RunningService = await startHere({
    ...{ dataDir, warmPool: { min: 0, max: 0 }, auditKeptDays: 0, imageKeptMinutes: 60 },
    ...{ apiKey, clock, log: silent, sleepAfterSeconds: 1 },
  });
  try {
    const caller = await service.services.identity.authenticate(apiKey);
    if (!caller) throw new Error('the first user is missing');
    const { sandboxes, execution, sleep } = service.services;
    const { id } = await sandboxes.create(caller, {
      ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
      ...{ cpu: 1, memory: 1, disk: 1, gpu: 0 },
    });
    let wasAsleep = 0;
    for (let tries = 0; tries < TRIES; tries++) {
      now += 2_000;
      const falling = service.scheduler.turn();
      await pause(between(random, 0, 8));
      if (sleep.since(id) !== null) wasAsleep += 1;
      const { stdout } = await execution.runCommand(caller, id, {
        ...{ command: `echo ${tries}`, env: {}, timeoutMs: 10_000 },
      });
      expect(stdout, `try ${tries}, seed ${seed}`).toBe(`${tries}\n`);
      await falling;
    }
    // Both sides of the moment were met.
    expect(wasAsleep).toBeGreaterThan(TRIES / 20);
    expect(wasAsleep).toBeLessThan(TRIES);
  } finally {
    await service.close();
    await purge({ dataDir, store: null, archives: onThisHost, clock, log: silent });
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 1_200_000);
