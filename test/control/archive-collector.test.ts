import { expect, it, onTestFinished, vi } from 'vitest';
import { ArchiveCollector } from '../../src/control/lifecycle/archives.ts';
import type { RemoteArchives } from '../../src/control/ports/index.ts';
import type { ArchiveLocation } from '../../src/model/sandbox.ts';
import { createAlone } from '../../src/store/rows/alone.ts';
import { sandboxId, sandboxRecord } from '../store/fixtures.ts';
import { memoryStore } from '../store/memory/memory-store.ts';

const log = { info() {}, warn() {}, error() {} };

it('keeps every archive that a row names, however many pages they fill', async () => {
  const { sandboxes } = memoryStore();
  /** One more than are read at once. */
  const rows = 500 + 1;
  for (let n = 0; n < rows; n++) {
    const archive = { store: 's3', bucket: 'b', key: `k${n}`, digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
    await sandboxes.insert(sandboxRecord({ id: sandboxId(n), name: `n${n}`, archive }));
  }
  let named: ArchiveLocation[] = [];
  let olderThanMs = 0;
  const archives: RemoteArchives = {
    async collect(request) {
      named = await request.named();
      olderThanMs = request.olderThanMs;
      return 0;
    },
  };
  const page = vi.spyOn(sandboxes, 'archives');
  const collector = new ArchiveCollector({ replicas: createAlone(), store: sandboxes, archives, log });
  await collector.turn();
  expect(page.mock.calls.map(([, most]) => most)).toEqual([500, 500]);
  expect(new Set(named.map((one) => (one.store === 's3' ? one.key : ''))).size).toBe(rows);
  // Longer than an upload may take with its commit: 6 hours.
  expect(olderThanMs).toBe(24 * 60 * 60_000);
});

it('ends a collection when it is closed, and survives one that fails', async () => {
  let turns = 0;
  const archives: RemoteArchives = {
    collect({ signal }) {
      if (++turns === 1) return Promise.reject(new Error('away'));
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const collector = new ArchiveCollector({
    replicas: createAlone(),
    store: memoryStore().sandboxes,
    archives,
    log,
  });
  onTestFinished(() => collector.close());
  await collector.turn();
  void collector.turn();
  await collector.close();
  expect(turns).toBe(2);
});

it('collects once the work is its own, ten minutes after a failure, and every six hours', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isMine = false;
  let fails = true;
  let turns = 0;
  const archives: RemoteArchives = {
    async collect() {
      turns += 1;
      if (fails) throw new Error('away');
      return 0;
    },
  };
  const replicas = { isMine: () => isMine };
  const collector = new ArchiveCollector({ replicas, store: memoryStore().sandboxes, archives, log });
  collector.begin();
  await vi.advanceTimersByTimeAsync(65_000);
  expect(turns).toBe(0);
  isMine = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(turns).toBe(1);
  fails = false;
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  expect(turns).toBe(1);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(turns).toBe(2);
  await vi.advanceTimersByTimeAsync(5.9 * 60 * 60_000);
  expect(turns).toBe(2);
  await vi.advanceTimersByTimeAsync(0.2 * 60 * 60_000);
  expect(turns).toBe(3);
  await collector.close();
});
