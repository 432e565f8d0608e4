/** The packages in fresh Debian systems without systemd: installed, used, removed, purged. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Built, fieldOf, packages } from './built.ts';
import { type DebianRoot, makeDebianRoot } from './root.ts';

let built: Built;
let service: string;
let baseImage: string;
let needed: string[];

beforeAll(async () => {
  built = await packages();
  service = await built.service();
  baseImage = await built.baseImage();
  needed = (await fieldOf(service, 'Depends')).split(', ').map((one) => one.split(' ')[0] ?? '');
}, 1_800_000);

afterAll(async () => {
  await built?.[Symbol.asyncDispose]();
});

describe.each(['bookworm', 'trixie'])('on %s', (suite) => {
  let root: DebianRoot;
  let before: string[];

  beforeAll(async () => {
    root = await makeDebianRoot(suite, [...needed, 'man-db']);
    before = await root.files();
  }, 900_000);

  afterAll(async () => {
    await root?.[Symbol.asyncDispose]();
  });

  it('the package installs, starts nothing, and names the next command', { timeout: 300_000 }, async () => {
    const { status, output } = await root.install([service]);
    expect(output).toContain(
      'sandhaven: this system does not run systemd. Start the service with: sandhaven up --prove',
    );
    expect(status).toBe(0);
  });

  it('its command runs', { timeout: 120_000 }, async () => {
    expect((await root.run('sandhaven', '--version')).output).toMatch(/^sandhaven 0\.1\.0\n/);
    const config = await root.run('sandhaven', 'config', 'check');
    expect(config.output).toBe('/etc/sandhaven/config.yaml is valid; 0 options come from it.\n');
    expect((await root.run('man', '--pager=cat', 'sandhaven')).output).toContain('sandhaven doctor');
    expect((await root.run('man', '--pager=cat', 'sandhaven-config')).output).toContain('data-dir');
  });

  it('doctor finds the programs of the package', { timeout: 120_000 }, async () => {
    const runc = 'SANDHAVEN_MACHINE_RUNTIME=runc';
    const { output } = await root.run('env', runc, 'sandhaven', 'doctor', '--json');
    const checks: { name: string; status: string; found: string }[] = JSON.parse(output).checks;
    const found = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
    expect(found).toMatchObject({
      runc: 'ok',
      programs: 'ok',
      agent: 'ok',
      node: 'ok',
      'base image': 'fail',
    });
    expect(checks.find(({ name }) => name === 'runc')?.found).toContain('/usr/lib/sandhaven/runc/runc');
  });

  it('doctor finds the base image of the other package', { timeout: 600_000 }, async () => {
    expect((await root.install([baseImage])).status).toBe(0);
    const { output } = await root.run('sandhaven', 'doctor', '--json');
    const checks: { name: string; status: string }[] = JSON.parse(output).checks;
    expect(checks.find(({ name }) => name === 'base image')?.status).toBe('ok');
    expect((await root.run('dpkg', '--purge', 'sandhaven-base-image')).status).toBe(0);
  });

  it('a removal leaves data and configuration', { timeout: 120_000 }, async () => {
    expect((await root.run('sh', '-c', 'echo abc123 > /var/lib/sandhaven/instance')).status).toBe(0);
    expect((await root.run('dpkg', '--remove', 'sandhaven')).status).toBe(0);
    expect(existsSync(join(root.path, 'usr/lib/sandhaven'))).toBe(false);
    expect(existsSync(join(root.path, 'etc/sandhaven/config.yaml'))).toBe(true);
    expect(await readFile(join(root.path, 'var/lib/sandhaven/instance'), 'utf8')).toBe('abc123\n');
  });

  it('a purge leaves nothing', { timeout: 120_000 }, async () => {
    expect((await root.run('dpkg', '--purge', 'sandhaven')).status).toBe(0);
    expect((await root.files()).filter((path) => !before.includes(path))).toEqual([]);
    expect((await root.run('getent', 'group', 'sandhaven')).output).toBe('');
  });
});
