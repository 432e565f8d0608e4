/**
 * Claims of sandboxes. The claim also carries the newest generation that has begun a start: a start changes it by
 * compare-and-set before it makes a Pod, so one that comes late is refused even when no Pod is there to compare with.
 */
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Api } from '../client/api.ts';
import { isConflict, isMissing, isThere } from '../client/failure.ts';
import { amountOf, type Claim, inNamespace } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import { GENERATION, generationOf, isRestoring, objectName } from './names.ts';
import { claimOf } from './pod-spec.ts';

export interface Disks {
  read(id: string, signal?: AbortSignal): Promise<Claim | null>;
  /**
   * Makes the claim, or marks it with the generation. Rejects with `unavailable` when a newer one has marked it, and where
   * an archive has the only content.
   */
  take(id: string, generation: number, diskGb: number, signal?: AbortSignal): Promise<void>;
  /** Grows a claim to this size and waits until the storage has it; leaves one that is large enough. */
  grow(id: string, diskGb: number): Promise<void>;
  /** Asks for the removal; the storage removes it when no Pod uses it any more. */
  remove(id: string): Promise<void>;
}

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'claims'>;
  settings: KubernetesSettings;
  /** Returns whether the sandbox may have an archive, as the API server knows it. */
  hasArchive(id: string, signal?: AbortSignal): Promise<boolean>;
}

export function createDisks({ api, copies, settings, hasArchive }: Dependencies): Disks {
  const pathOf = (name?: string) => inNamespace(settings.namespace, 'persistentvolumeclaims', name);

  async function read(id: string, signal?: AbortSignal): Promise<Claim | null> {
    try {
      return await api.get<Claim>(pathOf(objectName(id)), { signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async function create(id: string, generation: number, diskGb: number): Promise<boolean> {
    try {
      await api.create(pathOf(), claimOf(settings, id, generation, diskGb));
      return true;
    } catch (error) {
      if (isThere(error)) return false;
      throw error;
    }
  }

  /** Returns false when somebody else has changed the claim since it was read. */
  async function mark({ metadata }: Claim, generation: number): Promise<boolean> {
    const { name, resourceVersion } = metadata;
    const body = { metadata: { resourceVersion, annotations: { [GENERATION]: String(generation) } } };
    try {
      await api.patch(pathOf(name), body, 'merge');
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  return {
    read,

    async take(id, generation, diskGb, signal) {
      for (;;) {
        signal?.throwIfAborted();
        const claim = await read(id, signal);
        if (claim === null) {
          if (await hasArchive(id, signal)) throw noDisk();
          if (await create(id, generation, diskGb)) return;
          continue;
        }
        // It goes with its last Pod: what a start would write is lost.
        if (claim.metadata.deletionTimestamp) throw goingAway();
        if (isRestoring(claim)) throw noDisk();
        const newest = generationOf(claim);
        if (newest > generation) throw replaced();
        if (newest === generation || (await mark(claim, generation))) return;
      }
    },

    async grow(id, diskGb) {
      const claim = await read(id);
      if (claim === null) throw noDisk();
      const wanted = diskGb * 2 ** 30;
      if (amountOf(claim.spec.resources.requests['storage']) >= wanted) return;
      const body = { spec: { resources: { requests: { storage: `${diskGb}Gi` } } } };
      await api.patch(pathOf(objectName(id)), body, 'merge');
      await copies.claims.until(
        objectName(id),
        (found) => (found && isGrown(found, wanted) ? true : undefined),
        {
          timeoutMs: limits.kubernetes.growMs,
          late: () => notGrown(),
        },
      );
    },

    async remove(id) {
      try {
        await api.remove(pathOf(objectName(id)));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

/** The file system of some storage grows when it is mounted the next time. A claim without a volume has no size yet. */
function isGrown({ spec, status }: Claim, bytes: number): boolean {
  if (amountOf(spec.resources.requests['storage']) < bytes) return false;
  if (status?.phase === 'Pending') return true;
  const pending = status?.conditions?.some(
    ({ type, status }) => type === 'FileSystemResizePending' && status === 'True',
  );
  return pending === true || amountOf(status?.capacity?.['storage']) >= bytes;
}

export function replaced(): SandhavenError {
  return new SandhavenError('unavailable', 'A newer operation on the sandbox has replaced this one.', {
    hint: 'Look at its state with Sandbox.GetSandbox.',
    retryable: false,
  });
}

function goingAway(): SandhavenError {
  const hint = 'Create another sandbox.';
  return new SandhavenError('unavailable', 'The disk of the sandbox is being removed.', { hint });
}

export function noDisk(): SandhavenError {
  return new SandhavenError('unavailable', "The sandbox's disk is not there.", { retryable: false });
}

function notGrown(): SandhavenError {
  const hint = 'Try again later: the storage of the cluster goes on with it.';
  return new SandhavenError('unavailable', 'The disk has not grown in time.', { hint });
}
