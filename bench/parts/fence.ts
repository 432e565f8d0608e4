/**
 * A helper program's way into a fence of cgroup v2, in turn: a copy of the launcher that begins there, and joining by the list of
 * processes, as it would be without that.
 *
 *     node bench/parts/fence.ts [ROUNDS] [PAUSE_MS]
 *
 * As root. The pause lets the kernel forget an earlier change of groups.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { launcherPath, unifiedHierarchy } from '../../test/runtime/host.ts';

if (unifiedHierarchy === null) throw new Error('no hierarchy of version 2 is mounted here');
const [rounds = 30, pauseMs = 500] = process.argv.slice(2).map(Number);
const group = `${unifiedHierarchy}/sandhaven-bench-${process.pid}`;
const ways = { copied: ['--unified-cgroup', group], joined: ['--cgroup', `${group}/cgroup.procs`] };
const times: Record<string, number[]> = { copied: [], joined: [] };

mkdirSync(group);
try {
  for (let round = 0; round < rounds; round++) {
    for (const [way, options] of Object.entries(ways)) {
      await sleep(pauseMs);
      const began = performance.now();
      const { status } = spawnSync(launcherPath, ['exec', ...options, '--', '/bin/true']);
      if (status !== 0) throw new Error(`${way}: status ${status}`);
      times[way]?.push(performance.now() - began);
    }
  }
} finally {
  rmdirSync(group);
}
for (const [way, measured] of Object.entries(times)) {
  const sorted = measured.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.info(way, `median ${at(0.5)} ms, least ${at(0)} ms, nine of ten below ${at(0.9)} ms`);
}
