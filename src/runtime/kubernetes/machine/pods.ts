/**
 * Pods of sandboxes: read, made and removed by what the API itself answers, and waited for by the copy.
 *
 * Invariant: a Pod is removed with its UID as a precondition, and with a grace period of a second at least. Without one
 * the API server would forget it while its container still runs, and another could be made beside it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { nodeAway } from '../../../model/lost-node.ts';
import type { Api } from '../client/api.ts';
import { isConflict, isMissing, isThere } from '../client/failure.ts';
import { inNamespace, type Pod } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import { objectName } from './names.ts';
import { isUnreachable } from './pod-state.ts';

const { goneMs, goneUnreachableMs, askAgainMs } = limits.kubernetes;

export interface Pods {
  /** Asks the API server itself. */
  read(id: string, signal?: AbortSignal): Promise<Pod | null>;
  /** Returns null when there is one of that name already. Not to be canceled: it would be made later. */
  create(pod: Pod): Promise<Pod | null>;
  /**
   * Resolves when this very Pod is gone. Rejects with `unavailable` when its node does not confirm that; the Pod is then
   * removed once the node is back.
   */
  remove(pod: Pod, graceMs: number, signal?: AbortSignal): Promise<void>;
}

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'pods' | 'nodes'>;
  settings: KubernetesSettings;
  log: Log;
}

export function createPods({ api, copies, settings, log }: Dependencies): Pods {
  const pathOf = (name?: string, part?: string) => inNamespace(settings.namespace, 'pods', name, part);

  function nodeIsAway({ spec }: Pod): boolean {
    const node = spec.nodeName === undefined ? undefined : copies.nodes.get(spec.nodeName);
    return node !== undefined && isUnreachable(node);
  }

  /** Returns true when the Pod is gone within the time. */
  async function gone({ metadata }: Pod, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    const isGone = (found: Pod | undefined) =>
      found === undefined || found.metadata.uid !== metadata.uid ? true : undefined;
    const late = new Error('late');
    const wait = { timeoutMs, late: () => late, signal };
    return copies.pods.until(metadata.name, isGone, wait).catch((error: unknown) => {
      if (error === late) return false;
      throw error;
    });
  }

  async function named(name: string, signal?: AbortSignal): Promise<Pod | null> {
    try {
      return await api.get<Pod>(pathOf(name), { signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Asks the API server about a Pod that the copy has never shown: it may be behind, or stand still. */
  async function isReallyGone({ metadata: { name, uid } }: Pod, signal?: AbortSignal): Promise<boolean> {
    // Without an answer it may be there.
    const found = await named(name, signal).catch(() => undefined);
    if (found !== undefined && found?.metadata.uid !== uid) return true;
    await delay(askAgainMs, undefined, { signal });
    return false;
  }

  return {
    read: (id, signal) => named(objectName(id), signal),

    async create(pod) {
      try {
        return await api.create<Pod>(pathOf(), pod);
      } catch (error) {
        if (isThere(error)) return null;
        throw error;
      }
    },

    async remove(pod, graceMs, signal) {
      const { name, uid } = pod.metadata;
      const isShown = () => copies.pods.get(name)?.metadata.uid === uid;
      let wasShown = isShown();
      const body = {
        gracePeriodSeconds: Math.max(1, Math.ceil(graceMs / 1000)),
        preconditions: { uid },
      };
      try {
        await api.remove(pathOf(name), body, { signal });
      } catch (error) {
        // Gone, or another one in its place.
        if (!isMissing(error) && !isConflict(error)) throw error;
      }
      const deadline = performance.now() + graceMs + goneMs;
      let awayAt: number | null = null;
      for (;;) {
        wasShown ||= isShown();
        if ((await gone(pod, 1_000, signal)) && (wasShown || (await isReallyGone(pod, signal)))) return;
        const now = performance.now();
        awayAt = nodeIsAway(pod) ? (awayAt ?? now) : null;
        const isAway = awayAt !== null && now - awayAt >= goneUnreachableMs;
        if (!isAway && now < deadline) continue;
        log.warn('a Pod that was deleted is still there', { pod: name, node: pod.spec.nodeName, isAway });
        throw isAway ? nodeAway() : stillThere();
      }
    },
  };
}

function stillThere(): SandhavenError {
  return new SandhavenError('unavailable', "The sandbox's node has not ended its machine in time.", {
    hint: 'Try again, or ask the operator to look at the node.',
  });
}
