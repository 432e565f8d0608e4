/** The helper that freezes a machine for the copy of its disk, on a loop device of its own. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../src/app/engine/installed.ts';
import { createHelpers } from '../../src/runtime/oci/host/helper.ts';
import { freezeAndCopy } from '../../src/runtime/oci/storage/disk-copies.ts';

const launcher = join(NATIVE, 'sandhaven-launcher');

describe('the copy of a running disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-freeze-'));
  const source = join(folder, 'disk.img');
  const target = join(folder, 'copy.img');
  const helpers = createHelpers(launcher, () => []);
  const signal = new AbortController().signal;
  let device = '';

  beforeAll(() => {
    writeFileSync(source, Buffer.alloc(1024 * 1024, 'x'));
    device = execFileSync('losetup', ['--find', '--show', source]).toString().trim();
  });
  afterAll(() => {
    execFileSync('losetup', ['--detach', device]);
    rmSync(folder, { recursive: true });
  });

  const copy = (groups: string[]) => freezeAndCopy(helpers, { device, source, target, groups, signal });

  function group(name: string): string {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }

  it('is made while the group is frozen, which is thawed at the end', async () => {
    const v1 = group('v1');
    writeFileSync(join(v1, 'freezer.state'), 'THAWED\n');
    await copy([v1]);
    expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
    expect(readFileSync(join(v1, 'freezer.state'), 'utf8')).toBe('THAWED\n');
    rmSync(target);
  });

  // Both wait for the bound of five seconds, and beside each other.
  it.concurrent('is not made of a group that does not freeze, and it is thawed too', async () => {
    const v1 = group('never');
    symlinkSync('/dev/null', join(v1, 'freezer.state'));
    const v2 = group('v2');
    writeFileSync(join(v2, 'cgroup.freeze'), '0\n');
    writeFileSync(join(v2, 'cgroup.events'), 'populated 1\nfrozen 0\n');
    await Promise.all([v1, v2].map((one) => expect(copy([one])).rejects.toMatchObject({ exitCode: 81 })));
    expect(readFileSync(join(v2, 'cgroup.freeze'), 'utf8')).toBe('0\n');
    expect(existsSync(target)).toBe(false);
  }, 60_000);

  it.concurrent('is not made where there is no group to freeze', async () => {
    await expect(copy([join(folder, 'none')])).rejects.toMatchObject({ exitCode: 81 });
    expect(existsSync(target)).toBe(false);
  }, 60_000);

  it('of version 2 counts once the kernel reports it frozen', async () => {
    const v2 = group('frozen');
    writeFileSync(join(v2, 'cgroup.freeze'), '0\n');
    writeFileSync(join(v2, 'cgroup.events'), 'populated 1\nfrozen 1\n');
    await copy([v2]);
    expect(existsSync(target)).toBe(true);
    expect(readFileSync(join(v2, 'cgroup.freeze'), 'utf8')).toBe('0\n');
  });
});
