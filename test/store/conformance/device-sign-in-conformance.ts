/** Rules of every store for sign-ins of machines without a browser. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import type { DeviceSignIn } from '../../../src/model/access/ways-in.ts';
import { limits } from '../../../src/model/limits.ts';
import { alice } from '../fixtures.ts';

const NOW = 1_000_000;
const hashOf = (fill: number) => Buffer.alloc(32, fill);

function signIn(userCode: string, more: Partial<DeviceSignIn> = {}): DeviceSignIn {
  const times = { createdAt: NOW, expiresAt: NOW + 1_000 };
  return { userCode, machine: 'laptop é', address: '192.0.2.7', ...times, ...more };
}

export function deviceSignInConformance(name: string, store: () => Store): void {
  const rows = () => store().deviceSignIns;
  const add = (fill: number, more: Partial<DeviceSignIn> = {}, network = '192.0.2') =>
    rows().addDeviceSignIn(hashOf(fill), signIn(`CODE-${fill}`, more), network);
  const grant = { userId: alice.id, scopes: ['account' as const], keyMinutes: 60 };

  describe(`${name}: sign-ins of machines`, () => {
    it('wait for their user, until they are over', async () => {
      expect(await add(1)).toBe(true);
      expect(await rows().findDeviceSignIn('CODE-1', NOW + 999)).toEqual(signIn('CODE-1'));
      expect(await rows().takeDeviceAnswer(hashOf(1), NOW + 999)).toEqual({ status: 'pending' });
      expect(await rows().findDeviceSignIn('CODE-1', NOW + 1_000)).toBeNull();
      expect(await rows().findDeviceSignIn('CODE-2', NOW)).toBeNull();
      expect(await rows().decideDeviceSignIn('CODE-1', grant, NOW + 1_000)).toBe(false);
      expect(await rows().takeDeviceAnswer(hashOf(1), NOW + 1_000)).toEqual({ status: 'over' });
    });

    it('are decided once, and give their answer once', async () => {
      await add(1);
      await add(2);
      expect(await rows().decideDeviceSignIn('CODE-1', grant, NOW)).toBe(true);
      expect(await rows().decideDeviceSignIn('CODE-1', null, NOW)).toBe(false);
      expect(await rows().findDeviceSignIn('CODE-1', NOW)).toBeNull();
      expect(await rows().takeDeviceAnswer(hashOf(1), NOW)).toEqual({
        ...{ status: 'approved', machine: 'laptop é', grant },
      });
      expect(await rows().takeDeviceAnswer(hashOf(1), NOW)).toEqual({ status: 'over' });
      expect(await rows().takeDeviceAnswer(hashOf(2), NOW)).toEqual({ status: 'pending' });
    });

    it('are denied, and keep a grant of everything', async () => {
      await add(1);
      await add(2);
      await rows().decideDeviceSignIn('CODE-1', null, NOW);
      expect(await rows().takeDeviceAnswer(hashOf(1), NOW)).toEqual({ status: 'denied' });
      await rows().decideDeviceSignIn('CODE-2', { ...grant, scopes: null }, NOW);
      expect(await rows().takeDeviceAnswer(hashOf(2), NOW)).toMatchObject({ grant: { scopes: null } });
    });

    it('[LIMIT] are sixteen of one network, which keeps no other out', async () => {
      for (let fill = 1; fill <= 16; fill += 1) expect(await add(fill)).toBe(true);
      expect(await add(17)).toBe(false);
      expect(await add(18, {}, '198.51.100')).toBe(true);
      expect(await add(19, { createdAt: NOW + 1_000, expiresAt: NOW + 2_000 })).toBe(true);
    });

    it('[LIMIT] are 10,000 of all networks; beyond, the oldest of the network with most gives way', async () => {
      const row = async (at: number, network: string) => {
        const hash = Buffer.alloc(32);
        hash.writeUInt32BE(at);
        return rows().addDeviceSignIn(hash, signIn(`N-${at}`, { createdAt: NOW + at }), network);
      };
      const bounds = limits.deviceSignIn as { atOnce: number };
      const { atOnce } = bounds;
      expect(atOnce).toBe(10_000);
      onTestFinished(() => void Object.assign(bounds, { atOnce }));
      bounds.atOnce = 4;
      for (const [at, network] of ['quiet', 'loud', 'loud', 'middle'].entries()) await row(at, network);
      expect(await row(4, 'late')).toBe(true);
      const left = [0, 1, 2, 3, 4].map((at) => rows().findDeviceSignIn(`N-${at}`, NOW + 4));
      const codes = (await Promise.all(left)).map((found) => found?.userCode ?? null);
      expect(codes).toEqual(['N-0', null, 'N-2', 'N-3', 'N-4']);
    });
  });
}
