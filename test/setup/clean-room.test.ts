/** The clean room: what a command in it finds of this machine. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const room = join(import.meta.dirname, '..', '..', 'setup', 'clean-room.sh');
const leftBehind = ['/tmp', '/var/tmp', '/dev/shm'].map(
  (folder) => `${folder}/sandhaven-left-behind-${process.pid}`,
);
let home: string;

beforeAll(() => {
  home = mkdtempSync('/var/lib/sandhaven-home.');
  writeFileSync(join(home, '.npmrc'), 'fund=false\n');
  writeFileSync(join(home, 'left-behind'), '');
  for (const file of leftBehind) writeFileSync(file, '');
});
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
  for (const file of leftBehind) rmSync(file, { force: true });
});

function inRoom(command: string, env: Record<string, string> = {}, flags: string[] = []) {
  const options = { encoding: 'utf8', env: { ...process.env, HOME: home, ...env } } as const;
  return spawnSync(room, [...flags, 'sh', '-c', command], options);
}

describe('the clean room', () => {
  it('has nothing of the temporary folders, and of the home only what is on the list', () => {
    expect(inRoom('find /tmp /var/tmp /dev/shm -name "sandhaven-left-behind*"')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
    expect(inRoom('ls -A "$HOME"').stdout).toBe('.npmrc\ntmp\n');
  });

  it('has no variable that is not on the list', () => {
    const { stdout } = inRoom('env', { SANDBOX_API_KEY: 'left-behind', LANG: 'C.UTF-8' });
    expect(stdout).not.toContain('left-behind');
    expect(stdout).toContain('LANG=C.UTF-8');
  });

  it('has a copy of what the cache keeps under a recipe, and with --from-nothing none', () => {
    const kept = join(home, '.cache/sandhaven/base/recipe');
    mkdirSync(kept, { recursive: true });
    mkdirSync(join(home, '.cache/sandhaven/walk'));
    const list = 'cd "$HOME/.cache/sandhaven" && ls && echo x >base/recipe/changed';
    expect(inRoom(list)).toMatchObject({ status: 0, stdout: 'base\n' });
    expect(readdirSync(kept)).toEqual([]);
    expect(inRoom('ls -A "$HOME"', {}, ['--from-nothing']).stdout).toBe('.npmrc\ntmp\n');
  });

  it('keeps nothing that was written in it, and the status of its command', () => {
    expect(inRoom('echo x >/tmp/written && echo x >"$HOME/written" && exit 3').status).toBe(3);
    expect(inRoom('ls /tmp "$HOME"').stdout).not.toContain('written');
  });

  it('begins in the checkout', () => {
    expect(inRoom('test -e package.json').status).toBe(0);
  });
});
