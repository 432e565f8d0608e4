/** What a quota refuses, and in which words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type QuotaDependencies, Quotas } from '../../src/control/callers/quotas.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import {
  assertWithinQuota,
  isUnlimited,
  leftOf,
  quotaKinds,
  quotaOfMembers,
  unlimited,
} from '../../src/model/quota.ts';

const none = { sandboxes: 0, cpu: 0, memory: 0, disk: 0, snapshots: 0 };
const usage = fc.record(Object.fromEntries(quotaKinds.map((kind) => [kind, fc.nat(20)]))) as fc.Arbitrary<
  typeof none
>;
const quota = fc.record(
  Object.fromEntries(quotaKinds.map((kind) => [kind, fc.option(fc.nat(20))])),
) as fc.Arbitrary<typeof unlimited>;

describe('a quota', () => {
  it('[WIRE-ERR-14] shows the limit, the amount used, the rest and the amount asked for', () => {
    const before = { ...none, cpu: 6 };
    try {
      assertWithinQuota({ ...unlimited, cpu: 8 }, before, { ...before, cpu: 10 });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: 'resource_exhausted',
        message:
          'The quota is 8 vCPUs of running sandboxes: 6 are used, 2 are left, and 4 more were asked for.',
        fields: { hint: expect.stringContaining('Stop a sandbox') },
      });
    }
  });

  it('refuses exactly what grows beyond a limit, so that one who is over it may always have less', () => {
    fc.assert(
      fc.property(quota, usage, usage, (quota, before, after) => {
        const over = quotaKinds.some((kind) => {
          const limit = quota[kind];
          return limit !== null && after[kind] > limit && after[kind] > before[kind];
        });
        const ask = () => assertWithinQuota(quota, before, after);
        if (over) expect(ask).toThrow(SandhavenError);
        else expect(ask).not.toThrow();
      }),
    );
  });

  it('leaves the rest, and never less than nothing', () => {
    expect(leftOf({ ...unlimited, disk: 10, snapshots: 1 }, { ...none, disk: 4, snapshots: 3 })).toEqual({
      ...unlimited,
      disk: 6,
      snapshots: 0,
    });
    expect(isUnlimited(unlimited)).toBe(true);
    expect(isUnlimited({ ...unlimited, snapshots: 0 })).toBe(false);
  });
});

describe('the default quota of a member', () => {
  it('holds the largest sandbox on a small machine, and grows with the machine', () => {
    expect(quotaOfMembers({ processors: 2, memoryGb: 23.5, diskGb: 100.9 })).toEqual({
      ...{ sandboxes: 50, cpu: 32, memory: 64, disk: 400, snapshots: 50, connections: 1_000 },
    });
    expect(quotaOfMembers({ processors: 64, memoryGb: 251.9, diskGb: 4_000 })).toEqual({
      ...{ sandboxes: 50, cpu: 256, memory: 502, disk: 8_000, snapshots: 50, connections: 1_000 },
    });
  });

  it('is no admin’s, and gives way to a quota that is set', () => {
    const members = quotaOfMembers({ processors: 2, memoryGb: 24, diskGb: 100 });
    const quotas = new Quotas({
      defaults: { everybody: { cpu: 8 }, members },
    } as unknown as QuotaDependencies);
    expect(quotas.of({ role: 'admin', quota: {} })).toEqual({ ...unlimited, cpu: 8 });
    expect(quotas.of({ role: 'member', quota: {} })).toEqual({ ...members, cpu: 8 });
    expect(quotas.of({ role: 'member', quota: { cpu: null, disk: 1 } })).toEqual({
      ...members,
      cpu: null,
      disk: 1,
    });
  });
});
