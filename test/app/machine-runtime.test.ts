/** `--machine-runtime`: what starts the machines of this host. */
import { describe, expect, it } from 'vitest';
import { chooseRuntime } from '../../src/app/engine/machine-runtime.ts';
import { parseUpOptions } from '../../src/app/options/up-options.ts';

const v1 = ['memory', 'devices'].map((name) => ({
  mountpoint: `/sys/fs/cgroup/${name}`,
  version: 1 as const,
  controllers: [name],
}));
const v2 = [{ mountpoint: '/sys/fs/cgroup', version: 2 as const, controllers: [] }];
const takesRules = async () => null;
const takesNoRules = async () => 'Operation not permitted';

describe('the runtime of machines', () => {
  it('is the launcher itself where this host allows it, else runc', async () => {
    const direct = { kind: 'direct', why: 'the quickest here' };
    expect(await chooseRuntime('auto', v1, takesNoRules)).toEqual(direct);
    expect(await chooseRuntime('auto', v2, takesRules)).toEqual(direct);
    expect(await chooseRuntime('auto', v2, takesNoRules)).toEqual({
      kind: 'runc',
      why: 'no direct start: the kernel takes no rules about devices for cgroup v2 (Operation not permitted)',
    });
  });

  it('is the one that is chosen, or none', async () => {
    expect((await chooseRuntime('runc', v1, takesRules)).kind).toBe('runc');
    expect((await chooseRuntime('runc', v2, takesRules)).kind).toBe('runc');
    expect((await chooseRuntime('direct', v1, takesNoRules)).kind).toBe('direct');
    expect((await chooseRuntime('direct', v2, takesRules)).kind).toBe('direct');
    await expect(chooseRuntime('direct', v2, takesNoRules)).rejects.toThrow(
      /cannot be started directly: the kernel takes no rules about devices/,
    );
  });

  it('is chosen by flag or by environment, with one of three words', () => {
    expect(parseUpOptions([], {}).machineRuntime).toBe('auto');
    expect(parseUpOptions(['--machine-runtime', 'runc'], {}).machineRuntime).toBe('runc');
    expect(parseUpOptions([], { SANDHAVEN_MACHINE_RUNTIME: 'direct' }).machineRuntime).toBe('direct');
    expect(() => parseUpOptions(['--machine-runtime', 'crun'], {})).toThrow(/--machine-runtime|'crun'/);
  });
});
