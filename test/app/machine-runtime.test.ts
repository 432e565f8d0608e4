/** `--machine-runtime`: what starts the machines of this host. */
import { describe, expect, it } from 'vitest';
import { parseUpOptions } from '../../src/app/options/up-options.ts';
import { chooseRuntime } from '../../src/app/parts/machine-runtime.ts';

const v1 = ['memory', 'devices'].map((name) => ({
  mountpoint: `/sys/fs/cgroup/${name}`,
  version: 1 as const,
  controllers: [name],
}));
const v2 = [{ mountpoint: '/sys/fs/cgroup', version: 2 as const, controllers: [] }];

describe('the runtime of machines', () => {
  it('is the launcher itself where this host allows it, else runc', () => {
    expect(chooseRuntime('auto', v1)).toEqual({ kind: 'direct', why: 'the quickest here' });
    expect(chooseRuntime('auto', v2)).toMatchObject({
      kind: 'runc',
      why: expect.stringMatching(/cgroup v2/),
    });
  });

  it('is the one that is chosen, or none', () => {
    expect(chooseRuntime('runc', v1).kind).toBe('runc');
    expect(chooseRuntime('runc', v2).kind).toBe('runc');
    expect(chooseRuntime('direct', v1).kind).toBe('direct');
    expect(() => chooseRuntime('direct', v2)).toThrow(/cannot be started directly: cgroup v2/);
  });

  it('is chosen by flag or by environment, with one of three words', () => {
    expect(parseUpOptions([], {}).machineRuntime).toBe('auto');
    expect(parseUpOptions(['--machine-runtime', 'runc'], {}).machineRuntime).toBe('runc');
    expect(parseUpOptions([], { SANDHAVEN_MACHINE_RUNTIME: 'direct' }).machineRuntime).toBe('direct');
    expect(() => parseUpOptions(['--machine-runtime', 'crun'], {})).toThrow(/--machine-runtime|'crun'/);
  });
});
