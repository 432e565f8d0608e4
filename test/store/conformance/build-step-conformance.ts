/** Captured steps of builds, as every store keeps them. */
import { describe, expect, it } from 'vitest';
import type { BuildStep, Store } from '../../../src/control/ports/index.ts';
import { alice, bob } from '../fixtures.ts';

/** @param getStore The suite's open store. */
export function buildStepConformance(name: string, getStore: () => Store): void {
  const steps = () => getStore().buildSteps;
  const step = (letter: string, more: Partial<BuildStep> = {}): BuildStep => ({
    ...{
      captureId: `step_${letter.repeat(16)}`,
      ownerId: alice.id,
      key: `key ${letter}`,
      sizeBytes: 7,
      usedAt: 10,
    },
    ...more,
  });

  describe(`${name}: steps of builds`, () => {
    it('are found by owner and key, and say when they were used last', async () => {
      expect(await steps().put(step('a'))).toBeNull();
      expect(await steps().put(step('b', { usedAt: 11 }))).toBeNull();
      expect(await steps().put(step('c', { ownerId: bob.id, key: 'key a' }))).toBeNull();
      expect(await steps().find(alice.id, 'key a', 12)).toEqual(step('a', { usedAt: 12 }));
      expect(await steps().find(alice.id, 'key c', 12)).toBeNull();
      expect((await steps().find(bob.id, 'key a', 13))?.captureId).toBe('step_cccccccccccccccc');
      expect(await steps().list(alice.id)).toEqual([step('b', { usedAt: 11 }), step('a', { usedAt: 12 })]);
      expect((await steps().all()).map(({ usedAt }) => usedAt)).toEqual([11, 12, 13]);
    });

    it('of one key there is one of an owner; disks of all are named, until they are removed', async () => {
      await steps().put(step('a'));
      expect(await steps().put(step('d', { key: 'key a' }))).toEqual(step('a'));
      expect(await steps().list(alice.id)).toEqual([step('d', { key: 'key a' })]);
      expect([...(await getStore().snapshots.withDisks())]).toEqual(['step_dddddddddddddddd']);
      expect(await steps().remove('step_dddddddddddddddd')).toBe(true);
      expect(await steps().remove('step_dddddddddddddddd')).toBe(false);
      expect((await getStore().snapshots.withDisks()).size).toBe(0);
    });
  });
}
