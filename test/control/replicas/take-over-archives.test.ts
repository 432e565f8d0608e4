/** Archives among the operations that a given-up replica has left. */
import { expect, it } from 'vitest';
import { TakeOver } from '../../../src/control/replicas/take-over.ts';
import { OtherReplicas } from '../../../src/control/turns/other-replicas.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

it('finishes four archives at once at most, and meanwhile what comes after them', async () => {
  const store = memoryStore().sandboxes;
  const left = { holder: 'given up', state: 'stopped', generation: 2 } as const;
  for (let at = 0; at < 6; at++) {
    const id = `sb_${at}`;
    await store.insert(sandboxRecord({ id, name: id, ...left, operation: 'archiving' }));
  }
  await store.insert(sandboxRecord({ id: 'sb_9', name: 'sb_9', ...left, operation: 'deleting' }));
  const alone = createAlone();
  const replicas = { ...alone, shared: true, id: 'this', isMine: () => true, lives: async () => false };
  const begun: string[] = [];
  const ended: (() => void)[] = [];
  const takeOver = new TakeOver({
    ...{ store, replicas, others: new OtherReplicas(replicas, store) },
    finish(id) {
      begun.push(id);
      return new Promise((resolve) => ended.push(resolve));
    },
    log: { info() {}, warn() {}, error() {} },
  });
  await takeOver.turn();
  expect(begun).toEqual(['sb_0', 'sb_1', 'sb_2', 'sb_3', 'sb_9']);
  ended[0]?.();
  await store.remove('sb_0', 2);
  await takeOver.turn();
  expect(begun).toEqual(['sb_0', 'sb_1', 'sb_2', 'sb_3', 'sb_9', 'sb_4']);
});
