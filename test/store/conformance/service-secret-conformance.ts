/** What every store does with secrets of the service. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';

/** @param getStore The suite's open store. */
export function serviceSecretConformance(name: string, getStore: () => Store): void {
  const secrets = () => getStore().serviceSecrets;
  const never = () => {
    throw new Error('made again');
  };

  describe(`${name}: secrets of the service`, () => {
    it('are made once, and come back by exactly their name', async () => {
      const text = '-----BEGIN-----\n"é\u{1F4A5}\n';
      expect(await secrets().getOrCreate('one', () => text)).toBe(text);
      expect(await secrets().getOrCreate('one', never)).toBe(text);
      expect(await secrets().getOrCreate('One', () => 'other')).toBe('other');
      expect(await secrets().getOrCreate('one', never)).toBe(text);
    });

    it('are the same for all who make one at once', async () => {
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, n) => secrets().getOrCreate('shared', () => `secret ${n}`)),
      );
      expect(new Set(made).size).toBe(1);
      expect(await secrets().getOrCreate('shared', never)).toBe(made[0]);
    });

    it('are not made when making one fails', async () => {
      await expect(secrets().getOrCreate('failed', never)).rejects.toThrow('made again');
      expect(await secrets().getOrCreate('failed', () => 'made')).toBe('made');
    });
  });
}
