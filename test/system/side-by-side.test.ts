import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leftovers, tracesOf } from '../support/host.ts';
import { bin, freeAddresses, freeGateways, must, type Service, startService } from '../support/service.ts';
import { run } from '../support/transports.ts';

let first: Service;
let second: Service;

beforeAll(async () => {
  [first, second] = await Promise.all([startService(), startService({ flags: ['--warm-pool', '1'] })]);
}, 120_000);

afterAll(async () => {
  await first?.stop();
  await second?.stop();
});

const alive = async (service: Service, sandbox: unknown) =>
  (await must(service, 'RunCommand', { sandbox, command: 'cat proof' }))['stdout'];

async function make(service: Service): Promise<unknown> {
  const { id } = await must(service, 'CreateSandbox');
  await must(service, 'WriteFile', { sandbox: id, path: 'proof', content: String(id) });
  return id;
}

describe('two services on one machine', () => {
  it('[WIRE-UP-07] disturb each other neither when they are killed, nor when they start, nor when they are purged', async () => {
    const [a, b] = [await make(first), await make(second)];
    await first.kill();
    expect(await alive(second, b)).toBe(b);
    await first.restart();
    expect(await alive(first, a)).toBe(a);
    expect(await alive(second, b)).toBe(b);

    const instance = readFileSync(join(first.dataDir, 'instance'), 'utf8').trim();
    await first.stop();
    expect(leftovers(instance)).toEqual([]);
    expect(await alive(second, b)).toBe(b);
    const { id } = await must(second, 'CreateSandbox');
    await must(second, 'DeleteSandbox', { sandbox: id });
  }, 120_000);

  it('need not know of each other: the standard ports of the gateways are the first one’s', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => startService({ standardGateways: true })));
    if (!a || !b) throw new Error('no services');
    try {
      const [ofA, ofB] = await Promise.all([a, b].map(addresses));
      expect(ofA?.port).not.toBe(ofB?.port);
      expect(ofA?.ssh).not.toBe(ofB?.ssh);
      expect(`${a.log()}${b.log()}`).toContain('the standard port is taken');
    } finally {
      await a.stop();
      await b.stop();
    }
  }, 120_000);

  it('cannot share a data directory', async () => {
    const refused = await run(['up', '--data-dir', second.dataDir, ...freeAddresses], second);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('Another Sandhaven service uses the data directory');
  });
});

/** Where its gateways are, by what it hands out. */
async function addresses(service: Service): Promise<{ port: string; ssh: unknown }> {
  const { id: sandbox } = await must(service, 'CreateSandbox', { disk_gb: 1 });
  const { url } = await must(service, 'GetPortPreviewUrl', { sandbox, port: 80 });
  const { port: ssh } = await must(service, 'CreateSshAccess', { sandbox });
  return { port: new URL(String(url)).port, ssh };
}

describe('an address that is taken', () => {
  it('is named, and the sandboxes of the other service are none the worse', async () => {
    const taken = second.url.replace('http://', '');
    const refused = await run(
      ['up', '--data-dir', `${second.dataDir}-other`, '--listen', taken, ...freeGateways],
      second,
    );
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`${taken} is taken by another program.`);
    expect(existsSync(join(`${second.dataDir}-other`, 'instance'))).toBe(false);
    rmSync(`${second.dataDir}-other`, { recursive: true, force: true });
  });
});

describe('an address of a gateway that was chosen and is taken', () => {
  it.each(['--preview-listen', '--ssh-listen'])('ends the start, by the name of %s', async (flag) => {
    const taken = second.url.replace('http://', '');
    const dataDir = `${second.dataDir}-gateway`;
    const others = flag === '--ssh-listen' ? ['--preview-listen', '127.0.0.1:0'] : [];
    const flags = ['--data-dir', dataDir, '--listen', '127.0.0.1:0', ...others, flag, taken];
    const refused = await run(['up', ...flags], second);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`${taken} is taken by another program.`);
    expect(refused.stderr).toContain(flag);
    expect(existsSync(join(dataDir, 'instance'))).toBe(false);
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe('the end of a service', () => {
  it('on SIGTERM is clean: status 0, sandboxes go on, and the next start adopts them', async () => {
    const id = await make(second);
    await must(second, 'RunCommand', {
      sandbox: id,
      command: 'nohup sleep 1000 >/dev/null 2>&1 & echo $! > pid',
    });
    expect(await second.terminate()).toBe(0);
    expect((await tracesOf(second.dataDir)).processes).toContain(id);
    await second.restart();
    const still = await must(second, 'RunCommand', {
      sandbox: id,
      command: 'kill -0 $(cat pid) && cat proof',
    });
    expect(still).toMatchObject({ exit_code: 0, stdout: id });
  }, 60_000);

  it('[WIRE-UP-01] [WIRE-UP-02] the process that was started is the service itself', () => {
    expect(readFileSync(`/proc/${second.pid}/cmdline`, 'utf8')).toMatch(
      /(?:src\/main\.ts|bundle\/main\.mjs)\0up\0/,
    );
    expect(bin.endsWith('bin/sandhaven')).toBe(true);
  });
});

describe('the warm pool', () => {
  it('gives its sandbox away with name, sizes and environment set, and fills up again', async () => {
    const pooled = async () => (await tracesOf(second.dataDir)).processes.length;
    const { sandboxes } = (await must(second, 'ListSandboxes')) as { sandboxes: { id: string }[] };
    for (const { id } of sandboxes) await must(second, 'DeleteSandbox', { sandbox: id });
    await expect.poll(pooled, { timeout: 20_000 }).toBe(1);
    const [waiting] = (await tracesOf(second.dataDir)).processes;
    const claimed = await must(second, 'CreateSandbox', {
      name: 'claimed',
      cpu: 3,
      memory_gb: 2,
      env_vars: { A: 'b' },
    });
    expect(claimed).toMatchObject({ id: waiting, name: 'claimed', resources: { cpu: 3, memory: 2 } });
    const { stdout } = await must(second, 'RunCommand', { sandbox: 'claimed', command: 'echo $A; hostname' });
    expect(stdout).toBe(`b\n${waiting}\n`);
    await expect.poll(pooled, { timeout: 20_000 }).toBe(2);
  }, 60_000);
});
