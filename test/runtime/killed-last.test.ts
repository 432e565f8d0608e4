import { expect, it } from 'vitest';
import { killedLast, nameIn } from '../../src/runtime/oci/machine/killed-last.ts';

const record = (group: string, name: string) =>
  `6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/sandhaven-a/sb_1,` +
  `task_memcg=${group},task=${name},pid=7,uid=1000\n`;

it.each([
  ['/sandhaven-a/sb_1', 'python3', 'python3'],
  ['/sandhaven-a/sb_1/inner', 'a,task=b', 'a,task=b'],
  ['/sandhaven-a/sb_12', 'python3', null],
  ['/sandhaven-b/sb_1', 'python3', null],
])('a kill in %s of %s names %s', (group, name, found) => {
  expect(nameIn(record(group, name), '/sandhaven-a/sb_1')).toBe(found);
});

it('other records name nothing', () => {
  expect(nameIn('6,1,2,-;EXT4-fs (loop1): mounted', '/sandhaven-a/sb_1')).toBeNull();
});

it('the log of this host is read to its end', async () => {
  expect(await killedLast('/sandhaven-none/sb_none')).toBeNull();
});
