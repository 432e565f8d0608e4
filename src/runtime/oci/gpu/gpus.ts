/**
 * Whole GPUs for running sandboxes. Claims are read from the host's folder each time, never remembered; a sandbox
 * holds its GPUs from before its machine is made until nothing of the machine is left.
 */
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { GpuKind } from '../../../model/gpu-kind.ts';
import type { Instance } from '../host/plan.ts';
import { isAbandoned } from '../network/reclaim.ts';
import { allClaims, type Claim, freeClaim, freeClaims, readClaim, takeClaim } from './claims.ts';
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
