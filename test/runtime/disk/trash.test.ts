/** Deletion moves a sandbox's folder into the trash, which is emptied soon, also of what earlier boots left. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import { createInstance, execIn, type Instance, removeInstance, runtimeOver, tracesOf } from '../host.ts';

const resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };

let instance: Instance;
let runtime: OciRuntime;
beforeEach(() => {
  instance = createInstance();
  runtime = runtimeOver(instance);
});
afterEach(async () => {
  await runtime.close();
  await removeInstance(instance);
});

const trashed = (): string[] => readdirSync(join(instance.dataDir, 'trash'));

it('a deleted sandbox leaves its folder to the trash, which frees its space within seconds', async () => {
  await runtime.init();
  const id = newSandboxId();
  await runtime.start({ id, imageDigest: 'base', resources }, 1);
  await execIn(runtime, id, 'head -c 100000000 /dev/urandom >/root/file && sync');
  await runtime.destroy(id);
  expect(trashed()).toEqual([expect.stringMatching(new RegExp(`^${id}-[0-9a-z]{12}$`))]);
  expect(await tracesOf(instance, id)).toEqual([]);
  await expect.poll(trashed).toEqual([]);
});

it('a start empties the trash of earlier boots, a hundred folders at once', async () => {
  for (let index = 0; index < 100; index++) {
    const folder = join(instance.dataDir, 'trash', `sb_left-${index}`, 'g1');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
  }
  await runtime.init();
  await expect.poll(trashed).toEqual([]);
});

it('a sandbox whose folder is gone already is deleted without an error', async () => {
  await runtime.init();
  const id = newSandboxId();
  await runtime.start({ id, imageDigest: 'base', resources }, 1);
  await runtime.destroy(id);
  await runtime.destroy(id);
  expect(await tracesOf(instance, id)).toEqual([]);
  await expect.poll(trashed).toEqual([]);
});
