/**
 * Whole GPUs for running sandboxes. Claims are read from the host's folder each time, never remembered; a sandbox
 * holds its GPUs from before its machine is made until nothing of the machine is left.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { GpuKind } from '../../../model/gpu-kind.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { currentBootId, machineDir, withMutex } from '../host/locks.ts';
import type { Instance } from '../host/plan.ts';
import { isAbandoned } from '../network/reclaim.ts';
import { devicesOf, type Gpu, isSameHardware, type MachineDevices, noDevices } from './device.ts';
import { createInventory, type Inventory } from './inventory.ts';

export interface Gpus {
  /** Frees claims of this instance's sandboxes without a machine. @param machines Sandboxes that have a cgroup. */
  init(machines: string[]): Promise<void>;
  /** Fails with `resource_exhausted` when fewer are free. GPUs that the sandbox had before count as free for it. */
  acquire(sandboxId: string, count: number): Promise<MachineDevices>;
  /** Called when nothing of the sandbox's machine is left. */
  release(sandboxId: string): void;
  /** Returns the env vars of every program in the sandbox. */
  environment(sandboxId: string): Record<string, string>;
  count(): Promise<{ gpus: number; freeGpus: number }>;
  /** Frees all claims of this instance's sandboxes. */
  purge(): void;
}

export interface GpusOptions {
  instance: Instance;
  inventory: () => Promise<Inventory>;
  /** Returns true when any process is in a machine, of any instance. */
  hasProcesses: (instanceId: string, sandboxId: string) => Promise<boolean>;
  log: Log;
}

export function createGpus({ instance, inventory, hasProcesses, log }: GpusOptions): Gpus {
  const own = (): Claim[] => allClaims().filter((claim) => claim.instance.id === instance.id);

  /** Frees claims of dead instances. Instances that are merely not running keep theirs, as with slots. */
  async function freeAbandoned(): Promise<void> {
    const suspects = allClaims().filter(
      (claim) => claim.instance.id !== instance.id && isAbandoned(claim.instance),
    );
    const busy = await Promise.all(suspects.map((claim) => hasProcesses(claim.instance.id, claim.sandboxId)));
    freeClaims(suspects.filter((_, index) => !busy[index]));
  }

  return {
    async init(machines) {
      freeClaims(own().filter(({ sandboxId }) => !machines.includes(sandboxId)));
      const { gpus, problems } = await inventory();
      if (gpus.length > 0) log.info('gpus to hand out', { gpus: gpus.map(({ name }) => name) });
      for (const problem of problems) log.warn('a gpu or its specification is not used', { problem });
    },

    async acquire(sandboxId, count) {
      if (count === 0) return noDevices;
      const { gpus } = await inventory();
      await freeAbandoned();
      let chosen: Gpu[] = [];
      takeClaim(sandboxId, instance, (others) => {
        const free = freeOf(gpus, others);
        if (free.length < count) throw tooFew(count, gpus.length, free.length);
        chosen = free.slice(0, count);
        return {
          gpus: chosen.map(({ name, hardware }) => ({ name, hardware })),
          env: Object.assign({}, ...chosen.map(({ env }) => env)),
        };
      });
      return devicesOf(chosen);
    },

    release: freeClaim,
    environment: (sandboxId) => readClaim(sandboxId)?.env ?? {},

    async count() {
      const { gpus } = await inventory();
      if (gpus.length === 0) return { gpus: 0, freeGpus: 0 };
      await freeAbandoned();
      return { gpus: gpus.length, freeGpus: freeOf(gpus, allClaims()).length };
    },

    purge: () => freeClaims(own()),
  };
}

/** Reports this host's GPUs to an operator; changes nothing. */
export async function examineGpus(
  folders: string[],
  wanted: GpuKind,
): Promise<{ kind: string; names: string[]; held: number; problems: string[]; leftOut: string[] }> {
  const { gpus, problems, leftOut } = await createInventory(folders, wanted)();
  const names = gpus.map(({ name }) => name);
  const held = gpus.length - freeOf(gpus, allClaims()).length;
  return { kind: wanted.kind, names, held, problems, leftOut };
}

/** Returns the GPUs of which no sandbox holds any part. */
export function freeOf(gpus: Gpu[], claims: Claim[]): Gpu[] {
  const held = claims.flatMap((claim) => claim.gpus);
  return gpus.filter((gpu) => !held.some(({ hardware }) => isSameHardware(hardware, gpu.hardware)));
}

function tooFew(wanted: number, there: number, free: number): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `${wanted} GPUs were asked for; of ${there} on this host, ${free} are free.`,
    { hint: 'Ask for fewer GPUs, or stop a sandbox that has some.', retryable: true },
  );
}

// Claims of GPUs by the sandboxes of this host: one file per sandbox in /run/sandhaven/gpus, complete when it appears,
// so that all GPUs of a sandbox are taken in one step. The file exists before any part of the machine, and is removed
// after all of them. Decisions are made under the host-wide mutex.

export interface Claim {
  sandboxId: string;
  instance: Instance;
  /** Boot in which the machine was started; nothing of it outlives that boot. */
  bootId: string;
  gpus: { name: string; hardware: string[] }[];
  /** Env vars of every program in the machine. */
  env: Record<string, string>;
}

const claimsDir = join(machineDir, 'gpus');

/** Claim of an unreadable file. It holds every GPU: an empty list of nodes is part of any hardware. */
const unreadable = {
  instance: { id: '', runDir: '/', dataDir: '/' },
  gpus: [{ name: 'unknown', hardware: [] }],
  env: {},
};

const claimSchema = z.object({
  instance: z.object({ id: z.string().regex(/^[0-9a-z]{6}$/), runDir: z.string(), dataDir: z.string() }),
  bootId: z.string(),
  gpus: z.array(z.object({ name: z.string(), hardware: z.array(z.string()).min(1) })),
  env: z.record(z.string(), z.string()),
});

/** Returns the claims of this boot. */
export function allClaims(): Claim[] {
  const bootId = currentBootId();
  return names().flatMap((sandboxId) => {
    const claim = readClaim(sandboxId);
    return claim?.bootId === bootId ? [claim] : [];
  });
}

export function readClaim(sandboxId: string): Claim | null {
  try {
    return parseClaim(sandboxId, readFileSync(pathOf(sandboxId), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** @param text Content of the file named by the sandbox. */
export function parseClaim(sandboxId: string, text: string): Claim {
  try {
    return { sandboxId, ...claimSchema.parse(JSON.parse(text)) };
  } catch {
    return { sandboxId, ...unreadable, bootId: currentBootId() };
  }
}

/** @param choose Receives the claims of other sandboxes, and returns this one's, or throws. */
export function takeClaim(
  sandboxId: string,
  instance: Instance,
  choose: (others: Claim[]) => Pick<Claim, 'gpus' | 'env'>,
): void {
  withMutex(() => {
    const others = allClaims().filter((claim) => claim.sandboxId !== sandboxId);
    const contents = { instance, bootId: currentBootId(), ...choose(others) };
    mkdirSync(claimsDir, { recursive: true, mode: 0o700 });
    const draft = join(machineDir, 'claim.new');
    writeFileSync(draft, JSON.stringify(contents), { mode: 0o600 });
    renameSync(draft, pathOf(sandboxId));
  });
}

export function freeClaim(sandboxId: string): void {
  rmSync(pathOf(sandboxId), { force: true });
}

/** Removes those claims that have not changed since they were read. */
export function freeClaims(claims: Claim[]): void {
  if (claims.length === 0) return;
  withMutex(() => {
    for (const claim of claims) {
      if (readClaim(claim.sandboxId)?.bootId === claim.bootId) freeClaim(claim.sandboxId);
    }
  });
}

function names(): string[] {
  try {
    return readdirSync(claimsDir).filter((name) => sandboxIdPattern.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function pathOf(sandboxId: string): string {
  return join(claimsDir, sandboxId);
}
