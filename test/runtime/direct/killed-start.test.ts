/** A direct start that is killed at any of its system calls: nothing of it goes on, and nothing stays. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import { inPart } from '../../deep/parts.ts';
import {
  createInstance,
  type Instance,
  launcherPath,
  removeInstance,
  runtimeOver,
  startsDirectly,
  tracesOf,
} from '../host.ts';

const KILLS = inPart('kills') ? 40 : 4;
const tracer = new URL('kill-at-call.py', import.meta.url).pathname;
let scratch: string;
let callFile: string;
let countFile: string;
let instance: Instance;
let runtime: OciRuntime;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'sandhaven-killed-'));
  [callFile, countFile] = [join(scratch, 'call'), join(scratch, 'count')];
  instance = createInstance();
  const wrapper = join(scratch, 'launcher');
  const traced = `exec python3 ${tracer} ${countFile} "$(cat ${callFile})" ${launcherPath} "$@"`;
  writeFileSync(wrapper, `#!/bin/sh\n[ "$1" = start ] && ${traced}\nexec ${launcherPath} "$@"\n`);
  chmodSync(wrapper, 0o755);
  runtime = runtimeOver(instance, { machineRuntime: { kind: 'direct' }, launcherPath: wrapper });
  await runtime.init();
});

afterAll(async () => {
  await runtime.close();
  await removeInstance(instance);
  rmSync(scratch, { recursive: true });
});

const machine = () => ({
  id: newSandboxId(),
  imageDigest: 'base',
  resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 },
});

/** Returns the count of entries and returns, which varies a little. */
async function countCalls(): Promise<number> {
  const spec = machine();
  writeFileSync(callFile, '0');
  await runtime.start(spec, 1);
  await runtime.destroy(spec.id);
  return Number(readFileSync(countFile, 'utf8'));
}

it.runIf(startsDirectly)(
  'a start killed at any call leaves a disk that starts again, and no other trace',
  {
    timeout: 300_000,
  },
  async () => {
    const count = await countCalls();
    expect(count).toBeGreaterThan(400);
    const first = Math.floor(Math.random() * (count / KILLS)) + 1;
    console.info(`killed at ${first}, and then every ${Math.floor(count / KILLS)} of ${count} calls`);
    for (let call = first; call < count * 0.95; call += Math.floor(count / KILLS)) {
      const spec = machine();
      writeFileSync(callFile, String(call));
      await expect(runtime.start(spec, 1), `killed at call ${call}`).rejects.toMatchObject({
        code: 'unavailable',
      });
      expect(await runtime.inspect(spec.id)).toMatchObject({ runningGeneration: null });
      expect(await tracesOf(instance, spec.id)).toEqual([spec.id]);
      writeFileSync(callFile, '0');
      await runtime.start(spec, 2);
      expect(await runtime.inspect(spec.id)).toMatchObject({ runningGeneration: 2 });
      await runtime.destroy(spec.id);
      expect(await tracesOf(instance, spec.id)).toEqual([]);
    }
  },
);
