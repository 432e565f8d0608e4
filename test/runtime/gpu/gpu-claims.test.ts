/** Who has which GPU, where that is not clear: services that are gone, and files that nobody can read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newSandboxId, randomText } from '../../../src/model/ids.ts';
import type { Gpu } from '../../../src/runtime/oci/gpu/device.ts';
import {
  allClaims,
  createGpus,
  freeClaim,
  freeOf,
  type Gpus,
  parseClaim,
  takeClaim,
} from '../../../src/runtime/oci/gpu/gpus.ts';

let folder: string;
let gpu: Gpu;
let gpus: Gpus;
let busy: string[];
const claimed: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-claims-'));
  busy = [];
  const hardware = [`c:none:${randomText(8)}`];
  gpu = { name: '0', hardware, devices: { nodes: [], mounts: [] }, env: {} };
  gpus = createGpus({
    instance: { id: randomText(6), runDir: folder, dataDir: folder },
    inventory: async () => ({ gpus: [gpu], problems: [], leftOut: [] }),
    hasProcesses: async (_, sandboxId) => busy.includes(sandboxId),
    log: { info() {}, warn() {}, error() {} },
  });
});
afterEach(() => {
  for (const id of claimed.splice(0)) freeClaim(id);
  rmSync(folder, { recursive: true });
});

function claimOfAnother(dataDir: string): string {
  const sandboxId = newSandboxId();
  claimed.push(sandboxId);
  const instance = { id: randomText(6), runDir: folder, dataDir };
  takeClaim(sandboxId, instance, () => ({ gpus: [{ name: 'x', hardware: gpu.hardware }], env: {} }));
  return sandboxId;
}

describe('a claim', () => {
  it('of a service that does not run is kept', async () => {
    claimOfAnother(folder);
    expect(await gpus.count()).toEqual({ gpus: 1, freeGpus: 0 });
  });

  it('of a service whose data is gone is kept while its machine runs, and then freed', async () => {
    const id = claimOfAnother('/no/such/folder');
    busy.push(id);
    expect(await gpus.count()).toEqual({ gpus: 1, freeGpus: 0 });
    busy.pop();
    expect(await gpus.count()).toEqual({ gpus: 1, freeGpus: 1 });
    expect(allClaims().map(({ sandboxId }) => sandboxId)).not.toContain(id);
  });

  it('is replaced by the next one of the same sandbox', async () => {
    const id = newSandboxId();
    claimed.push(id);
    await gpus.acquire(id, 1);
    await gpus.acquire(id, 1);
    await expect(gpus.acquire(newSandboxId(), 1)).rejects.toMatchObject({ code: 'resource_exhausted' });
    gpus.release(id);
    expect(await gpus.count()).toEqual({ gpus: 1, freeGpus: 1 });
  });

  it('of a machine that is not there any more is freed when the service starts', async () => {
    const [kept, left] = [newSandboxId(), newSandboxId()];
    claimed.push(kept, left);
    await gpus.acquire(left, 1);
    await gpus.init([left]);
    expect((await gpus.count()).freeGpus).toBe(0);
    await gpus.init([kept]);
    expect((await gpus.count()).freeGpus).toBe(1);
  });

  it.each(['', '{', '{"gpus":[]}', '[]'])('holds everything when it cannot be read (%j)', (text) => {
    expect(freeOf([gpu], [parseClaim(newSandboxId(), text)])).toEqual([]);
  });
});
