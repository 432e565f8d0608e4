/**
 * Start of a sandbox: claim and Secret, then the Pod. The Pod comes last, since a scheduler or kubelet that finds one of
 * them missing looks again only after a second.
 *
 * A start that fails or is canceled leaves the claim and nothing that runs. One that was interrupted by the end of the
 * service is found again: the next start of the same generation takes its Pod, one of a newer generation removes it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log, MachineSpec } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Api } from '../client/api.ts';
import type { Pod } from '../client/objects.ts';
import type { AgentDoor, KubernetesSettings, PlacedImage } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import { type Disks, replaced } from './disk.ts';
import { generationOf, isCarrier, objectName } from './names.ts';
import { podOf } from './pod-spec.ts';
import { isOver } from './pod-state.ts';
import type { Pods } from './pods.ts';
import { agentAnswers } from './readiness.ts';
import type { Secrets } from './secrets.ts';

export interface StartDependencies {
  api: Api;
  copies: Copies;
  pods: Pods;
  disks: Disks;
  secrets: Secrets;
  door: AgentDoor;
  /** Returns where nodes get the image of this digest. */
  place(digest: string): Promise<PlacedImage>;
  settings: KubernetesSettings;
  log: Log;
}

export type Start = (spec: MachineSpec, generation: number, signal: AbortSignal) => Promise<void>;

export function createStart(parts: StartDependencies): Start {
  const { copies, pods, disks, secrets, log } = parts;

  /** Removes what this attempt, or an older one, has made. The next call for the sandbox repeats what fails here. */
  async function clear(id: string, generation: number): Promise<void> {
    const signal = AbortSignal.timeout(limits.kubernetes.cleanUpMs);
    const pod = await pods.read(id, signal);
    if (pod && generationOf(pod) > generation) return;
    if (pod) await pods.remove(pod, 0, signal);
    await secrets.remove(id, generation);
  }

  return async (spec, generation, signal) => {
    const { id } = spec;
    try {
      const pod = await obtainPod(parts, spec, generation, signal);
      await agentAnswers(parts, { id, generation, pod, signal });
      // A newer start may have come and gone between the mark on the claim and the Pod.
      const claim = await disks.read(id, signal);
      if (claim && generationOf(claim) > generation) throw replaced();
      // What the caller sees next is the copy.
      await copies.claims.until(objectName(id), (found) => (found ? true : undefined), {
        timeoutMs: limits.kubernetes.requestMs,
        late: replaced,
        signal,
      });
    } catch (error) {
      await clear(id, generation).catch((late: unknown) => {
        log.warn('a failed start left remains', { sandbox: id, generation, error: late });
      });
      throw error;
    }
  };
}

/** Returns the Pod of this generation: one that is there, or a new one in the place of an older one. */
async function obtainPod(
  parts: StartDependencies,
  spec: MachineSpec,
  generation: number,
  signal: AbortSignal,
): Promise<Pod> {
  const { pods, disks, secrets, door, place, settings } = parts;
  const { id, resources } = spec;
  for (;;) {
    signal.throwIfAborted();
    const present = await pods.read(id, signal);
    if (present && generationOf(present) > generation) throw replaced();
    if (present && isUsable(present, generation)) return present;
    const image = await allOf(
      place(spec.imageDigest),
      disks.take(id, generation, resources.disk, signal),
      present ? pods.remove(present, 0, signal) : Promise.resolve(),
      secrets.put(id, generation),
    );
    signal.throwIfAborted();
    const service = door.service;
    const made = await pods.create(podOf({ id, generation, resources, image, service, settings }));
    if (made) return made;
    await delay(limits.kubernetes.askAgainMs, undefined, { signal });
  }
}

/** Resolves to the first one's result; rejects once all have ended, so that none works on afterwards. */
async function allOf<T>(first: Promise<T>, ...others: Promise<unknown>[]): Promise<T> {
  await Promise.allSettled([first, ...others]);
  await Promise.all(others);
  return first;
}

function isUsable(pod: Pod, generation: number): boolean {
  const isCurrent = generationOf(pod) === generation && !pod.metadata.deletionTimestamp;
  return isCurrent && !isOver(pod) && !isCarrier(pod);
}
