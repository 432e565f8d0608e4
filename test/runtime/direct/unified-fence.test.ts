/** The launcher in the fence of cgroup v2: its copy inside does the work, and the service notices no difference. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomText } from '../../../src/model/ids.ts';
import { launcherPath, unifiedHierarchy } from '../host.ts';

const group = `${unifiedHierarchy}/sandhaven-test-fence-${randomText(6)}`;
const inFence = ['exec', '--unified-cgroup', group, '--'];
const run = (...program: string[]) => spawnSync(launcherPath, [...inFence, ...program], { encoding: 'utf8' });
const members = () => readFileSync(`${group}/cgroup.procs`, 'utf8').trim().split('\n').filter(Boolean);

describe.runIf(unifiedHierarchy !== null)('a helper in the fence', () => {
  beforeAll(() => mkdirSync(group));
  afterAll(() => rmdirSync(group));

  it('is there before it does anything', () => {
    const { stdout } = run('cat', '/proc/self/cgroup');
    expect(stdout).toContain(`0::/${group.split('/').at(-1)}\n`);
  });

  it('has the output and the exit status of its program', () => {
    expect(run('sh', '-c', 'echo out; echo err >&2; exit 7')).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      status: 7,
    });
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('ends by the signal that ends its program, %s', (signal) => {
    expect(run('sh', '-c', `kill -${signal.slice(3)} $$`)).toMatchObject({ status: null, signal });
  });

  it('fails with the launcher’s own status where the program is not there', () => {
    expect(run('/none')).toMatchObject({ status: 120, stderr: expect.stringContaining('execute /none') });
  });

  it.each(['its process group', 'its first process alone'])('ends as a whole with %s', async (which) => {
    const helper = spawn(launcherPath, [...inFence, 'sh', '-c', 'echo begun; exec sleep 60'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => helper.once('exit', (_, signal) => resolve(signal)));
    await new Promise((resolve) => helper.stdout.once('data', resolve));
    const pid = helper.pid ?? 0;
    expect(members()).not.toEqual([]);
    process.kill(which === 'its process group' ? -pid : pid, 'SIGKILL');
    expect(await ended).toBe('SIGKILL');
    await expect.poll(members).toEqual([]);
  });

  it('that was torn down does nothing', () => {
    const gone = `${group}-gone`;
    const helper = spawnSync(launcherPath, ['exec', '--unified-cgroup', gone, '--', 'echo', 'late'], {
      encoding: 'utf8',
    });
    expect(helper).toMatchObject({
      status: 120,
      stdout: '',
      stderr: expect.stringContaining('open the fence'),
    });
  });
});
