/** Usage by the agent inside: what its files say, and nothing where they say nonsense. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { usageInside } from '../../../src/control/live/usage-sampler.ts';

const asked: object[] = [];

function measure(files: Record<string, string>) {
  return usageInside({
    async readStream(_id, query) {
      asked.push(query);
      const content = files[query.path];
      if (content === undefined) throw new Error('no such file');
      return { size: content.length, stream: Readable.from([Buffer.from(content)]) };
    },
  })('sb_a');
}

describe('usage inside', () => {
  it('is the processor time, and the memory without files that are only cached', async () => {
    const usage = await measure({
      '/sys/fs/cgroup/cpu.stat': 'usage_usec 2500000\nuser_usec 1\n',
      '/sys/fs/cgroup/memory.current': '9000\n',
      '/sys/fs/cgroup/memory.stat': 'anon 1\ninactive_file 4000\n',
    });
    expect(usage).toEqual({ cpuMs: 2_500, memoryBytes: 5_000, diskBytes: null });
  });

  it.each(['', 'usage_usec -1\n', 'usage_usec 99999999999999999999\n', '\u0000'])(
    'is not known from %j',
    async (text) => {
      const files = { '/sys/fs/cgroup/cpu.stat': text, '/sys/fs/cgroup/memory.current': text };
      expect(await measure(files)).toEqual({ cpuMs: null, memoryBytes: null, diskBytes: null });
    },
  );

  it('reads no more than 8 KiB of a file', async () => {
    asked.length = 0;
    await measure({});
    expect(asked).toHaveLength(3);
    for (const query of asked) expect(query).toMatchObject({ start: 0, end: 8_191 });
  });
});
