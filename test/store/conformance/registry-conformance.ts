/** What every store does with credentials of registries. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';

/** @param getStore The suite's open store. */
export function registryConformance(name: string, getStore: () => Store): void {
  const credentials = () => getStore().registryCredentials;
  const of = (registry: string, password = 'pässword "1"') => ({ registry, username: 'robot', password });

  describe(`${name}: credentials of registries`, () => {
    it('come back by exactly their registry', async () => {
      await credentials().put(of('b.example:5000'), 7);
      await credentials().put(of('a.example'), 8);
      expect(await credentials().get('b.example:5000')).toEqual(of('b.example:5000'));
      for (const other of ['b.example', 'b.example:500', 'b.example:5000/team', '', 'docker.io']) {
        expect(await credentials().get(other), other).toBeNull();
      }
    });

    it('are listed by name, without their passwords', async () => {
      await credentials().put(of('b.example:5000'), 7);
      await credentials().put(of('a.example'), 8);
      expect(await credentials().list()).toEqual([
        { registry: 'a.example', username: 'robot', updatedAt: 8 },
        { registry: 'b.example:5000', username: 'robot', updatedAt: 7 },
      ]);
    });

    it('are replaced by later ones, and gone once they are removed', async () => {
      await credentials().put(of('a.example'), 7);
      const renewed = { ...of('a.example', 'new'), username: 'other' };
      expect(await credentials().put(renewed, 9)).toEqual({
        ...{ registry: 'a.example', username: 'other', updatedAt: 9 },
      });
      expect(await credentials().get('a.example')).toEqual(renewed);
      expect(await credentials().remove('a.example')).toBe(true);
      expect(await credentials().remove('a.example')).toBe(false);
      expect(await credentials().get('a.example')).toBeNull();
      expect(await credentials().list()).toEqual([]);
    });

    it('are of so many registries at most', async () => {
      const most = 100;
      for (let n = 0; n < most; n++) await credentials().put(of(`r${n}.example`), n);
      await expect(credentials().put(of('more.example'), 1)).rejects.toMatchObject({
        code: 'resource_exhausted',
      });
      await credentials().put(of('r0.example', 'new'), 1);
      expect(await credentials().get('r0.example')).toMatchObject({ password: 'new' });
    });
  });
}
