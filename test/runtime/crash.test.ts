/** kill -9 of the service at any moment: what it leaves is recognised, loses no byte, and can be removed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MachineSpec } from '../../src/control/ports/index.ts';
import { newSandboxId } from '../../src/model/ids.ts';
import type { OciRuntime } from '../../src/runtime/oci/runtime.ts';
import { inPart } from '../deep/parts.ts';
import { quietTime } from '../support/host.ts';
import {
  createInstance,
  execIn,
  fencesOf,
  type Instance,
  removeInstance,
  runtimeOver,
  tracesOf,
} from './host.ts';
import { type Action, actions, type Orders } from './orders.ts';

/** Longer than the action takes, so that the moments cover all of it. */
const DURATION_MS: Record<Action, number> = {
  start: 110,
  stop: 60,
  archive: 700,
  restore: 400,
  grow: 200,
  destroy: 80,
};
const KILLS = inPart('kills') ? 4 : 1;
/** Kills after the growth began, in ms. */
const GROWTH_KILLS = inPart('kills') ? [10, 30, 50, 70, 90, 110, 130, 150] : [70];
const CHECK = 'cd /root && find . -type f | sort | xargs sha256sum | sha256sum';

describe('after kill -9 of the service', () => {
  let instance: Instance;
  const scratch = mkdtempSync(join(tmpdir(), 'sandhaven-crash-'));
  beforeAll(() => {
    instance = createInstance();
  });
  afterAll(async () => {
    rmSync(scratch, { recursive: true });
    await removeInstance(instance);
  });

  it.each([...actions])('in the middle of %s', { timeout: 120_000 }, async (action) => {
    for (let kill = 0; kill < KILLS; kill++) {
      const machine = spec();
      let runtime = await boot();
      const sum = await furnish(runtime, machine);
      if (action !== 'stop' && action !== 'destroy') await runtime.stop(machine.id, 500);
      const record = action === 'restore' ? await runtime.archive(machine.id, 1) : null;
      if (record) await runtime.dropDisk(machine.id);

      // One service at a time has the sandboxes of an instance.
      await runtime.close();
      const delay = ((kill + Math.random()) / KILLS) * DURATION_MS[action];
      await killDuring({ action, machine, generation: 2, record }, delay);

      runtime = await boot();
      expect(fencesOf(instance)).toHaveLength(1);
      const seen = await runtime.inspect(machine.id);
      if (action !== 'destroy') {
        expect(seen).toMatchObject(record ? { hasArchive: true } : { hasDisk: true });
        if (record) await runtime.restore(machine, 2, record);
        await runtime.start(machine, 3);
        expect((await execIn(runtime, machine.id, CHECK)).output).toBe(sum);
      }
      await runtime.destroy(machine.id);
      expect(await tracesOf(instance, machine.id)).toEqual([]);
    }
  });

  it('finishes a growth whose helper was killed', { timeout: 120_000 }, async () => {
    for (const delay of GROWTH_KILLS) {
      const machine = spec();
      let runtime = await boot();
      const sum = await furnish(runtime, machine);
      await runtime.stop(machine.id, 500);
      await quietTime(instance.instanceId);
      const growing = runtime.growDisk(machine.id, 60).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, delay));
      runtime = await boot();
      await growing;
      await runtime.growDisk(machine.id, 60);
      await runtime.start(machine, 2);
      expect((await execIn(runtime, machine.id, CHECK)).output).toBe(sum);
      const { output } = await execIn(runtime, machine.id, 'df -B1 --output=size / | tail -1');
      expect(Number(output)).toBeGreaterThan(58 * 2 ** 30);
      await runtime.destroy(machine.id);
    }
  });

  function spec(): MachineSpec {
    return { id: newSandboxId(), imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } };
  }

  async function boot(): Promise<OciRuntime> {
    const runtime = runtimeOver(instance);
    await runtime.init();
    return runtime;
  }

  async function furnish(runtime: OciRuntime, machine: MachineSpec): Promise<string> {
    await runtime.start(machine, 1);
    await execIn(runtime, machine.id, 'head -c 20M /dev/urandom > /root/random; echo x > /root/x');
    return (await execIn(runtime, machine.id, CHECK)).output;
  }

  async function killDuring(orders: Omit<Orders, 'instance'>, delayMs: number): Promise<void> {
    const { installationKey, ...names } = instance;
    const path = join(scratch, 'orders.json');
    const given: Orders = {
      ...orders,
      instance: { ...names, installationKeyHex: installationKey.toString('hex') },
    };
    writeFileSync(path, JSON.stringify(given));
    const victim = spawn(process.execPath, [new URL('victim.ts', import.meta.url).pathname, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => victim.once('exit', resolve));
    await new Promise((resolve) => victim.stdout.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    victim.kill('SIGKILL');
    await ended;
  }
});
