/** Machines go on when the next service starts them otherwise: each reads the state that the other has left. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import type { MachineRuntime } from '../../../src/runtime/oci/machine/machine-runtime.ts';
import {
  createInstance,
  execIn,
  type Instance,
  removeInstance,
  runtimeOver,
  soundRunc,
  startsDirectly,
  tracesOf,
} from '../host.ts';

const direct: MachineRuntime = { kind: 'direct' };
const runc: MachineRuntime = { kind: 'runc', runcPath: soundRunc() };
let instance: Instance;

beforeAll(() => {
  instance = createInstance();
});

afterAll(() => removeInstance(instance));

async function service(machineRuntime: MachineRuntime) {
  const runtime = runtimeOver(instance, { machineRuntime });
  await runtime.init();
  return runtime;
}

describe.runIf(startsDirectly).each([
  { before: runc, after: direct },
  { before: direct, after: runc },
])('a machine of $before.kind', ({ before, after }) => {
  it(`is known to a service of ${after.kind}, which stops it and starts it again`, {
    timeout: 60_000,
  }, async () => {
    const spec = {
      id: newSandboxId(),
      imageDigest: 'base',
      resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 },
    };
    const first = await service(before);
    await first.start(spec, 1);
    await execIn(first, spec.id, 'echo kept > /root/file');
    await first.close();

    const second = await service(after);
    expect(await second.inspect(spec.id)).toMatchObject({ runningGeneration: 1 });
    expect((await execIn(second, spec.id, 'cat /root/file')).output).toBe('kept\n');
    await second.resizeLive(spec.id, { ...spec.resources, memory: 2 });
    await second.stop(spec.id, 500);
    expect(await second.inspect(spec.id)).toMatchObject({ runningGeneration: null });
    await second.start(spec, 2);
    expect((await execIn(second, spec.id, 'cat /root/file')).output).toBe('kept\n');
    await second.destroy(spec.id);
    expect(await tracesOf(instance, spec.id)).toEqual([]);
    await second.close();
  });
});
