/** A real program in a folder that looks like a group of cgroup v2. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCgroups } from '../../src/runtime/oci/machine/cgroups.ts';

describe('on cgroup v2', () => {
  it('ends the programs of a machine while it is frozen, but not its PID 1', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sandhaven-cgroups-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const program = spawn('sleep', ['60']);
    const ended = once(program, 'exit');
    const id = 'sb_0123456789abcdef';
    const group = join(root, 'sandhaven-test00', id);
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, 'cgroup.procs'), `${program.pid}\n`);
    writeFileSync(join(group, 'cgroup.freeze'), '0');
    await createCgroups('test00', [{ mountpoint: root, version: 2, controllers: [] }]).endPrograms(id);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(readFileSync(join(group, 'cgroup.freeze'), 'utf8')).toBe('0');
  });
});
