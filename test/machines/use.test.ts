/** The service on Debian with systemd and cgroup v2: it starts, and every kind of tool works. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { describeEverydayUse } from './support/everyday-use.ts';
import { type Installed, startInstalled } from './support/installed.ts';

let installed: Installed;

beforeAll(async () => {
  installed = await startInstalled(inject('machinePayload'));
});

afterAll(() => installed?.machine.close());

describe('the service', () => {
  it('runs on the unified hierarchy alone', async () => {
    expect((await installed.machine.must('stat --file-system --format %T /sys/fs/cgroup')).trim()).toBe(
      'cgroup2fs',
    );
  });

  it('is active, and has proved that it works', async () => {
    expect((await installed.machine.must('systemctl is-active sandhaven')).trim()).toBe('active');
    expect(await installed.machine.must('journalctl -u sandhaven --no-pager')).toContain(
      'It works: sandbox created in',
    );
  });

  it('has no finding of the doctor', async () => {
    const { checks } = JSON.parse(await installed.sandhaven('doctor --json')) as {
      checks: { status: string }[];
    };
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('leaves no unit of the system failed', async () => {
    expect(await installed.machine.must('systemctl list-units --state=failed --no-legend --plain')).toBe('');
  });
});

describeEverydayUse(() => installed);
