/** Usage of a machine as the kernel's files say it, on both versions of cgroups, from an imitated hierarchy. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createUsage } from '../../../src/runtime/oci/machine/usage.ts';
import { temporaryDirectory } from '../../store/fixtures.ts';

function measure(version: 1 | 2, files: Record<string, string>) {
  const mountpoint = temporaryDirectory();
  mkdirSync(join(mountpoint, 'box'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(mountpoint, 'box', name), content);
  const hierarchy = { mountpoint, version, controllers: [] };
  const parts = { layout: { disk: () => join(mountpoint, 'none') }, groupPath: () => '/box' };
  return createUsage({ ...parts, memory: hierarchy, processor: hierarchy })('sb_a');
}

describe('usage', () => {
  it('is read on version 2', () => {
    const usage = measure(2, {
      'cpu.stat': 'usage_usec 1500000\nuser_usec 1000000\n',
      'memory.current': '9000\n',
      'memory.stat': 'anon 1\ninactive_file 4000\n',
      'memory.events': 'low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n',
    });
    expect(usage).toEqual({ cpuMs: 1_500, memoryBytes: 5_000, diskBytes: null, oomKills: 3 });
  });

  it('is read on version 1', () => {
    const usage = measure(1, {
      'cpuacct.usage': '1500000000\n',
      'memory.usage_in_bytes': '9000\n',
      'memory.stat': 'inactive_file 1\ntotal_inactive_file 4000\n',
      'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
    });
    expect(usage).toEqual({ cpuMs: 1_500, memoryBytes: 5_000, diskBytes: null, oomKills: 2 });
  });

  it.each([1, 2] as const)('is null of a machine that does not run, on version %s', (version) => {
    expect(measure(version, {})).toEqual({ cpuMs: null, memoryBytes: null, diskBytes: null, oomKills: null });
  });
});
