/** The packages of this checkout, from their installation by apt to their purge, on Debian as it boots. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { suites } from '../../setup/debian/machines/recipe.ts';
import { runByNpx, runByPython } from './support/clients.ts';
import { type Machine, startMachine } from './support/machine.ts';

const APT = 'DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0';
/** Decompressing the base image takes an emulated processor minutes. */
const APT_TIMEOUT = { timeoutMs: 1_500_000 };

describe.each(suites)('on %s, the packages', (suite) => {
  let machine: Machine;

  beforeAll(async () => {
    machine = await startMachine(suite, inject('machinePayload'));
  });

  afterAll(() => machine?.close());

  const stateOfService = async () => (await machine.run('systemctl is-active sandhaven')).stdout.trim();
  const inside = (command: string) => machine.must(`sandhaven exec kept -- ${command}`);

  it('install, start the service, and show that it works', async () => {
    const said = await machine.must(`${APT} install /srv/packages/*.deb 2>&1`, APT_TIMEOUT);
    expect(said).toMatch(/It works: sandbox created in \d+ ms/);
    expect(await stateOfService()).toBe('active');
  });

  it('leave the doctor nothing to find', async () => {
    const { checks } = JSON.parse(await machine.must('sandhaven doctor --json')) as {
      checks: { status: string }[];
    };
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('serve the packages for npm and for Python', async () => {
    await machine.must('sandhaven create --name client');
    const apiKey = (await machine.must('cat /var/lib/sandhaven/api-key')).trim();
    const service = { url: `http://127.0.0.1:${machine.servicePort}`, apiKey };
    expect(await runByNpx(service, 'client', 'echo by MCP')).toBe('by MCP\n');
    expect(await runByPython(service, 'client', 'echo by Python')).toBe('by Python\n');
    await machine.must('sandhaven rm client');
  });

  it('leave sandboxes running when they are installed again', async () => {
    await machine.must('sandhaven create --name kept');
    await inside('sh -c "setsid -f sleep 86400 >/dev/null 2>&1"');
    const program = await inside('pgrep sleep');
    await machine.must(`${APT} install --reinstall /srv/packages/sandhaven_*.deb 2>&1`, APT_TIMEOUT);
    expect(await stateOfService()).toBe('active');
    expect(await inside('pgrep sleep')).toBe(program);
  });

  it('start the service with the machine', async () => {
    await machine.reboot();
    await expect.poll(stateOfService, { timeout: 600_000, interval: 2_000 }).toBe('active');
    await machine.must('sandhaven start kept');
    expect(await inside('echo started')).toBe('started\n');
  });

  it('end their sandboxes when they are removed, and leave nothing when they are purged', async () => {
    const instance = (await machine.must('cat /var/lib/sandhaven/instance')).trim();
    await machine.must(`${APT} remove sandhaven 2>&1`, APT_TIMEOUT);
    expect(await machine.must(`ls -d /sys/fs/cgroup/sandhaven-${instance}* 2>/dev/null || true`)).toBe('');
    expect(await machine.must('ls /var/lib/sandhaven/sandboxes')).toMatch(/^sb_/);
    await machine.must(`${APT} purge sandhaven sandhaven-base-image 2>&1`, APT_TIMEOUT);
    const left = await machine.must(
      'ls -d /var/lib/sandhaven /var/cache/sandhaven /etc/sandhaven /run/sandhaven* 2>/dev/null; ' +
        'nft list tables | grep sandhaven; losetup --noheadings --output BACK-FILE; ' +
        `ip --brief link | grep "sh${instance}"; getent group sandhaven; true`,
    );
    expect(left).toBe('');
  });
});
