/**
 * A machine on which `up` cannot work: each case is made for real, in namespaces of its own. `up` and `doctor` say it in
 * words, with what to do, and nothing is left running.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openDataDirectory } from '../../src/store/data-directory.ts';
import { noTraces, tracesOf } from '../support/host.ts';
import { bin, freeAddresses, makeDataDir } from '../support/service.ts';

const root = mkdtempSync(join(tmpdir(), 'sandhaven-refused-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** @param before Shell commands that make the machine what it is, in a mount namespace of its own. */
function runInPlace(before: string, args: string[], wrapper: string[] = []) {
  const namespace = ['--mount', '--propagation', 'private', 'sh', '-euc', `${before}\nexec "$@"`, 'sh'];
  return spawnSync('unshare', [...namespace, ...wrapper, bin, ...args], {
    ...{ encoding: 'utf8', timeout: 60_000 },
    env: { ...process.env, SANDHAVEN_LISTEN: '127.0.0.1:0' },
  });
}

/** `--before-build` leaves out some of doctor's checks, so what is red with it is red without. */
function inPlace(before: string, dataDir: string, wrapper?: string[]) {
  return {
    up: runInPlace(before, ['up', '--data-dir', dataDir, ...freeAddresses], wrapper),
    beforeBuild: runInPlace(before, ['doctor', '--before-build', '--data-dir', dataDir], wrapper),
  };
}

const cases: { what: string; before: string; says: RegExp; hint: RegExp; wrapper?: string[] }[] = [
  {
    what: 'control groups that are read-only',
    before:
      'for mount in /sys/fs/cgroup/*; do mount -o remount,bind,ro "$mount" 2>/dev/null || mount --bind -o ro "$mount" "$mount"; done; [ ! -e /sys/fs/cgroup/cgroup.controllers ] || mount -o remount,bind,ro /sys/fs/cgroup',
    says: /cgroups: v[12], read-only/,
    hint: /control groups writable/,
  },
  {
    what: 'a user who is not root',
    before: ':',
    // It may read the checkout, which root alone may enter, and nothing more.
    wrapper: [
      ...['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
      ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
    ],
    says: /root: not running as root/,
    hint: /use sudo/,
  },
  {
    what: 'a data directory on an overlay',
    before: `mkdir -p ${root}/o/l ${root}/o/u ${root}/o/w ${root}/data; mount -t overlay overlay -o lowerdir=${root}/o/l,upperdir=${root}/o/u,workdir=${root}/o/w ${root}/data`,
    says: /data directory: .* is on an overlay/,
    hint: /mount a volume/,
  },
  {
    what: 'a data directory that is read-only',
    before: `mkdir -p ${root}/data; mount --bind ${root}/data ${root}/data; mount -o remount,bind,ro ${root}/data`,
    says: /data directory: .* read-only/,
    hint: /--data-dir/,
  },
  {
    what: 'a machine whose loop devices are closed',
    before: 'mount --bind /dev/loop-control /dev/loop-control; mount -o remount,bind,nodev /dev/loop-control',
    says: /loop devices: \/dev\/loop-control cannot be opened/,
    hint: /modprobe loop/,
  },
  {
    what: 'a machine on which no network can be made',
    before: ':',
    wrapper: ['setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin'],
    says: /nftables: .*the kernel does not take the rules.*links: no pair of network links/s,
    hint: /modprobe veth/,
  },
];

it('`make up` asks `doctor` before it builds anything', () => {
  const rules = readFileSync(fileURLToPath(new URL('../../Makefile', import.meta.url)), 'utf8');
  const [rule = ''] = /^up:.*\n(?:\t.*\n)+/m.exec(rules) ?? [];
  expect(rule.indexOf('doctor --before-build')).toBeGreaterThan(0);
  expect(rule.indexOf('build image')).toBeGreaterThan(rule.indexOf('doctor --before-build'));
});

it('`doctor` is red with all of its checks, too', () => {
  const [{ before } = expect.fail('no case')] = cases;
  expect(runInPlace(before, ['doctor', '--data-dir', join(root, 'data')]).status).toBe(1);
}, 60_000);

describe('`up` refuses, `doctor` is red and `make up` builds nothing on', () => {
  it.each(cases)(
    '$what',
    ({ before, says, hint, wrapper }) => {
      const dataDir = join(root, 'data');
      rmSync(dataDir, { recursive: true, force: true });
      const { up, beforeBuild } = inPlace(before, dataDir, wrapper);
      // Before all else, so that a start which is not refused leaves nothing either.
      if (existsSync(join(dataDir, 'instance'))) spawnSync(bin, ['purge', '--data-dir', dataDir, '--yes']);
      expect(up.stderr).toMatch(says);
      expect(up.stderr).toMatch(hint);
      expect(up.stderr).not.toMatch(/^\s+at /m);
      expect(up.status).toBe(5);
      expect(beforeBuild.status).toBe(1);
      expect(beforeBuild.stdout).toMatch(hint);
      expect(existsSync(dataDir) ? readdirSync(dataDir) : []).toEqual([]);
    },
    60_000,
  );

  it('a port that another program has', async () => {
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ...process.env, SANDHAVEN_LISTEN: address };
    const options = { encoding: 'utf8', timeout: 60_000, env } as const;
    const dataDir = join(root, 'port');
    const run = (...args: string[]) =>
      new Promise<{ status: number | null; text: string }>((resolve) => {
        const child = spawn(bin, [...args, '--data-dir', dataDir], options);
        let text = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
        child.once('close', (status) => resolve({ status, text }));
      });
    const up = await run('up');
    expect(up.text).toContain(`${address} is taken by another program`);
    expect(up).toMatchObject({ status: 5, text: expect.stringContaining('--listen (SANDHAVEN_LISTEN)') });
    expect(await run('doctor', '--before-build')).toMatchObject({
      status: 1,
      text: expect.stringContaining(`${address} is taken`),
    });
    server.close();
    await once(server, 'close');
    expect(await run('doctor', '--before-build')).toEqual({ status: 0, text: '' });
    expect(existsSync(dataDir)).toBe(false);
  }, 60_000);
});

it('a start that fails late leaves no sandbox running', async () => {
  const dataDir = await makeDataDir();
  // The proof comes last, and needs a sandbox.
  const { status, stderr } = spawnSync(
    bin,
    ['up', '--prove', '--data-dir', dataDir, '--warm-pool', '2', '--quota-sandboxes', '0', ...freeAddresses],
    { encoding: 'utf8', timeout: 90_000 },
  );
  try {
    expect(stderr).toContain('The proof failed at CreateSandbox');
    expect(status).not.toBe(0);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(await tracesOf(dataDir)).toEqual(noTraces);
  } finally {
    spawnSync(bin, ['purge', '--data-dir', dataDir, '--yes']);
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);

it('a purge of a folder that is no data directory refuses, and makes nothing', () => {
  const none = join(root, 'none');
  const notes = join(root, 'notes');
  mkdirSync(join(notes, 'mine'), { recursive: true });
  for (const folder of [none, notes]) {
    const { status, stderr } = spawnSync(bin, ['purge', '--data-dir', folder, '--yes'], { encoding: 'utf8' });
    expect(stderr).toContain(`${folder} is not the data directory of a service.`);
    expect(status).toBe(5);
  }
  expect(existsSync(none)).toBe(false);
  expect(readdirSync(notes)).toEqual(['mine']);
});

it('a purge that fails says so, and ends, though the network has begun', () => {
  const { path } = openDataDirectory(join(root, 'kept'));
  const [real, failing] = [join(root, 'real-nft'), join(root, 'failing-nft')];
  const program = `#!/bin/sh
case "$*" in -f*) ;; *) exec ${real} "$@" ;; esac
text=$(cat)
case "$text" in *_traffic*) echo 'no table for traffic' >&2; exit 1 ;; esac
echo "$text" | ${real} "$@"
`;
  writeFileSync(failing, program, { mode: 0o755 });
  const before = `cp "$(command -v nft)" ${real}; mount --bind ${failing} "$(command -v nft)"`;
  const { status, stderr } = runInPlace(before, ['purge', '--data-dir', path, '--yes']);
  const again = spawnSync(bin, ['purge', '--data-dir', path, '--yes']);
  expect(stderr).toContain('The network of sandboxes could not be changed.');
  expect([status, again.status]).toEqual([7, 0]);
}, 90_000);
