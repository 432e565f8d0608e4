/**
 * The launcher's rules about devices on cgroup v2, as the kernel enforces them. On a host of v1 the hierarchy of version 2, where
 * there is one, lies beside the others without controllers; rules about devices are none, so it takes them too.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import { deviceRules } from '../../../src/runtime/oci/machine/launch-arguments.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import { ALLOWED, REFUSED } from '../../isolation/runtimes/compared.ts';
import {
  createInstance,
  type Instance,
  launcherPath,
  removeInstance,
  runtimeOver,
  startsDirectly,
  unifiedHierarchy,
} from '../host.ts';

const program = new URL('../../isolation/programs/device-attempts.py', import.meta.url).pathname;
const spec = {
  id: newSandboxId(),
  imageDigest: 'base',
  resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 },
};
const group = () => `${unifiedHierarchy}/sandhaven-${instance.instanceId}/${spec.id}`;
let scratch: string;
let instance: Instance;
let runtime: OciRuntime;

describe.runIf(startsDirectly && unifiedHierarchy !== null)('in the group of a machine', () => {
  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'sandhaven-devices-'));
    instance = createInstance();
    const rules = deviceRules({ nodes: [] }).flatMap((rule) => ['--device-rule', `'${rule}'`]);
    const wrapper = join(scratch, 'launcher');
    const withRules = `[ "$1" = start ] && exec ${launcherPath} "$@" ${rules.join(' ')}`;
    writeFileSync(wrapper, `#!/bin/sh\n${withRules}\nexec ${launcherPath} "$@"\n`);
    chmodSync(wrapper, 0o755);
    runtime = runtimeOver(instance, { machineRuntime: { kind: 'direct' }, launcherPath: wrapper });
    await runtime.init();
    await runtime.start(spec, 1);
  });

  afterAll(async () => {
    await runtime.destroy(spec.id);
    await runtime.close();
    await removeInstance(instance);
    rmSync(scratch, { recursive: true });
  });

  it('even the host’s root may use the nodes that machines have and terminals, and make none', () => {
    const attempts = JSON.parse(execFileSync('python3', [program, group()], { encoding: 'utf8' }));
    expect(attempts).toEqual({ allowed: ALLOWED, refused: REFUSED });
  });

  it('outside of it nothing is refused', () => {
    const attempts = JSON.parse(execFileSync('python3', [program], { encoding: 'utf8' }));
    expect(attempts.refused).toEqual([]);
  });
});
