/**
 * Claims between two states: a disk that is being archived, and one that is being made of an archive. The latter carries a
 * mark, and is no disk while it does: it is removed, and made anew, by the next attempt.
 *
 * Every change names the claim by its UID and version, so that an attempt which comes late changes no newer one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Api } from '../client/api.ts';
import { isConflict, isMissing, isThere } from '../client/failure.ts';
import { type Claim, inNamespace } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from '../machine/copies.ts';
import { type Disks, noDisk, replaced } from '../machine/disk.ts';
import { GENERATION, generationOf, isRestoring, objectName, RESTORING } from '../machine/names.ts';
import { claimOf } from '../machine/pod-spec.ts';

export interface Claims {
  /** Marks the sandbox's disk with the generation. Rejects with `unavailable` without one, or when a newer one has it. */
  hold(id: string, generation: number, signal: AbortSignal): Promise<Claim>;
  /** Makes an empty claim that is no disk yet, in the place of an older one. */
  renew(id: string, generation: number, diskGb: number, signal: AbortSignal): Promise<Claim>;
  /** Declares it the sandbox's disk. */
  settle(id: string, made: Claim): Promise<void>;
  /** Removes the sandbox's claim; with `only`, that one alone. Resolves when it is gone. */
  drop(id: string, only?: Claim): Promise<void>;
}

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'claims'>;
  disks: Pick<Disks, 'read' | 'take'>;
  settings: KubernetesSettings;
}

export function createClaims({ api, copies, disks, settings }: Dependencies): Claims {
  const pathOf = (name?: string) => inNamespace(settings.namespace, 'persistentvolumeclaims', name);

  async function remove(id: string, { metadata }: Claim): Promise<void> {
    const wasShown = copies.claims.get(objectName(id))?.metadata.uid === metadata.uid;
    try {
      await api.remove(pathOf(objectName(id)), { preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (isConflict(error)) throw replaced();
      if (!isMissing(error)) throw error;
    }
    const isGone = (found: Claim | undefined) => (found?.metadata.uid === metadata.uid ? undefined : true);
    const wait = { timeoutMs: limits.kubernetes.goneMs, late: notGone };
    await copies.claims.until(objectName(id), isGone, wait);
    if (wasShown) return;
    // The copy is behind, or stands still.
    const deadline = performance.now() + limits.kubernetes.goneMs;
    while ((await disks.read(id))?.metadata.uid === metadata.uid) {
      if (performance.now() > deadline) throw notGone();
      await delay(limits.kubernetes.askAgainMs);
    }
  }

  /** Takes the mark off the claim as it was read. Returns false when somebody has changed it since. */
  async function unmarked(id: string, { metadata }: Claim): Promise<boolean> {
    const { uid, resourceVersion } = metadata;
    const body = { metadata: { uid, resourceVersion, annotations: { [RESTORING]: null } } };
    try {
      await api.patch(pathOf(objectName(id)), body, 'merge');
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  return {
    async hold(id, generation, signal) {
      const claim = await disks.read(id, signal);
      if (claim === null || isRestoring(claim)) throw noDisk();
      await disks.take(id, generation, 0, signal);
      return claim;
    },

    async renew(id, generation, diskGb, signal) {
      const old = await disks.read(id, signal);
      if (old && generationOf(old) > generation) throw replaced();
      if (old) await remove(id, old);
      signal.throwIfAborted();
      const claim = claimOf(settings, id, generation, diskGb);
      const annotations = { [GENERATION]: String(generation), [RESTORING]: 'true' };
      try {
        return await api.create<Claim>(pathOf(), {
          ...claim,
          metadata: { ...claim.metadata, annotations },
        });
      } catch (error) {
        if (isThere(error)) throw replaced();
        throw error;
      }
    },

    async settle(id, made) {
      // The cluster's own controllers change a claim too.
      for (let isDone = false; !isDone; ) {
        const claim = await disks.read(id);
        const isSame = claim !== null && claim.metadata.uid === made.metadata.uid;
        if (!isSame || generationOf(claim) !== generationOf(made)) throw replaced();
        isDone = await unmarked(id, claim);
      }
      const isDisk = (found: Claim | undefined) => (found && !isRestoring(found) ? true : undefined);
      const wait = { timeoutMs: limits.kubernetes.requestMs, late: notGone };
      await copies.claims.until(objectName(id), isDisk, wait);
    },

    async drop(id, only) {
      const claim = await disks.read(id);
      const isMeant = claim !== null && (only === undefined || claim.metadata.uid === only.metadata.uid);
      if (isMeant) await remove(id, claim);
    },
  };
}

function notGone(): SandhavenError {
  const hint = 'Try again: the cluster goes on with it.';
  return new SandhavenError('unavailable', 'The storage of the sandbox has not changed in time.', { hint });
}
