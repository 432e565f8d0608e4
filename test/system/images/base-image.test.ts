import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { disk_gb: 4 });
}, 120_000);

afterAll(() => service?.stop());

async function run(command: string): Promise<string> {
  const result = await must(service, 'RunCommand', { command, timeout_seconds: 120 });
  expect(result['exit_code'], `${command}: ${result['output']}`).toBe(0);
  return String(result['stdout']);
}

describe('the standard base image', () => {
  it('[WIRE-ROOT-05] has the stated commands, Python 3.13 with its packages, and Node 24 with npm', async () => {
    const commands =
      'bash ls ps ip lsblk xxd file less unzip git curl rg ssh gcc make python3 pip pip3 node npm apt-get useradd';
    await run(
      `for name in ${commands}; do command -v $name >/dev/null || { echo missing $name; exit 1; }; done`,
    );
    expect(await run('python3 --version')).toMatch(/^Python 3\.13\./);
    expect(await run('node --version')).toMatch(/^v24\./);
    await run(
      'python3 -c "import numpy, pandas, matplotlib, requests" && python3 -m venv /tmp/venv && npm --version',
    );
    await run('echo "def test_it(): assert 1 + 1 == 2" >test_it.py && pytest -q test_it.py');
  }, 60_000);

  it('[WIRE-ROOT-04] [WIRE-ROOT-03] installs packages with apt-get, pip and npm, as a root that the host does not know', async () => {
    await run(
      'apt-get update -qq && apt-get install -qq -y --no-install-recommends redis-server tree >/dev/null && tree --version',
    );
    await run('id redis && su -s /bin/sh redis -c "id -un" | grep redis');
    await run('pip install -q six==1.16.0 && python3 -c "import six"');
    await run(
      'mkdir -p n && cd n && npm install --silent is-number@7.0.0 && node -e "require(\\"is-number\\")"',
    );
    const [, outside] = (await run('cat /proc/self/uid_map')).trim().split(/\s+/);
    expect(Number(outside)).toBeGreaterThanOrEqual(200_000);
  }, 180_000);

  it('resolves names, its own among them, and knows no other sandbox', async () => {
    expect(await run('getent hosts $(hostname) | wc -l')).toBe('1\n');
    expect(await run('cat /etc/hostname; hostname')).toMatch(/^(sb_[0-9a-z]{16})\n\1\n$/);
    expect(await run('ls /proc | grep -c "^[0-9]"')).toMatch(/^[0-9]\n$/);
  });
});
