/** Bad luck of a whole machine: its disk is full, its clock is changed, and other programs change its firewall. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { call, must } from '../support/service.ts';
import { type Installed, startInstalled } from './support/installed.ts';

const SOON = { timeout: 300_000, interval: 1_000 };
const DAY_S = 86_400;

let installed: Installed;

beforeAll(async () => {
  installed = await startInstalled(inject('machinePayload'));
  for (const name of ['one', 'other']) {
    await must(installed.service, 'CreateSandbox', { name, memory_gb: 1, disk_gb: 2, auto_stop_minutes: 0 });
  }
});

afterAll(() => installed?.machine.close());

const inside = (sandbox: string, command: string) =>
  call(installed.service, 'RunCommand', { sandbox, command, timeout_seconds: 300 });
const said = async (sandbox: string, command: string) => (await inside(sandbox, command)).body['stdout'];
const host = (command: string) => installed.machine.must(command);
const addressOf = async (sandbox: string) =>
  String(await said(sandbox, "hostname -I | cut -d' ' -f1")).trim();

describe('a machine with bad luck', () => {
  it('goes on when its disk was full', async () => {
    await host(
      'fallocate --length $(($(df --output=avail --block-size=1 /srv | tail -1) - 65536)) /srv/full',
    );
    await host('head -c 1G /dev/zero > /srv/rest 2>/dev/null; true');
    const { status, body } = await call(installed.service, 'CreateSandbox', { name: 'more', disk_gb: 1 });
    expect({ status, code: body['code'] }).toEqual({ status: 429, code: 'resource_exhausted' });
    expect((await host('systemctl is-active sandhaven')).trim()).toBe('active');
    await host('rm /srv/full /srv/rest');
    await expect.poll(() => said('one', 'echo room > file && cat file'), SOON).toBe('room\n');
    await must(installed.service, 'CreateSandbox', { name: 'more', disk_gb: 1 });
  });

  it.each([
    ['forward', DAY_S],
    ['back', -DAY_S],
  ])('goes on when its clock is set %s a day', async (_, seconds) => {
    const program = await said('one', 'setsid -f sleep 99999 >/dev/null 2>&1; pgrep --newest sleep');
    await host(`date --set=@$(($(date +%s) + ${seconds}))`);
    expect(await said('one', 'pgrep --newest sleep')).toBe(program);
    await must(installed.service, 'CreateSandbox', { name: `day${seconds}`, memory_gb: 1, disk_gb: 1 });
    await must(installed.service, 'DeleteSandbox', { sandbox: `day${seconds}` });
    await installed.sandhaven('audit verify');
  });

  it('keeps sandboxes apart when another program flushes the firewall', async () => {
    const address = await addressOf('other');
    await inside('other', 'setsid -f python3 -m http.server 8000 >/dev/null 2>&1');
    const reach = `curl --silent --max-time 5 --output /dev/null http://${address}:8000; echo $?`;
    await host('nft flush ruleset');
    await expect.poll(() => host('nft list tables | grep --count sandhaven_ || true'), SOON).toBe('1\n');
    expect(await said('one', reach)).not.toBe('0\n');
  });

  it('lets sandboxes out beside Docker, which drops what is forwarded', async () => {
    await host(
      'apt-get --quiet update && DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes --no-install-recommends install docker.io iptables',
    );
    await expect
      .poll(() => host('nft list chain ip filter FORWARD | head -3'), SOON)
      .toContain('policy drop');
    const mirror = (
      await host("grep --only-matching 'https\\?://[^ ]*' /etc/apt/sources.list | head -1")
    ).trim();
    const reach = `curl --silent --max-time 60 --output /dev/null ${mirror}; echo $?`;
    await expect.poll(() => said('one', reach), SOON).toBe('0\n');
  });
});
