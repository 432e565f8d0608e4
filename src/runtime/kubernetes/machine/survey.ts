/** Sandboxes and capacity of the cluster, as the copies show them. */
import type { Capacity, Observed, Runtime, SandboxUsage } from '../../../control/ports/index.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { Api } from '../client/api.ts';
import { fromApi, isMissing } from '../client/failure.ts';
import { amountOf, metricsPath, type Node, type Pod } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import { generationOf, isCarrier, isRestoring, noteName, objectName, sandboxOf } from './names.ts';
import { isOver, isUnreachable } from './pod-state.ts';

type Survey = Pick<Runtime, 'observe' | 'inspect' | 'capacity' | 'usage'>;

interface Dependencies {
  api: Api;
  copies: Copies;
  settings: KubernetesSettings;
  /** Asks the API server itself. */
  readPod(id: string): Promise<Pod | null>;
}

interface PodMetrics {
  containers: { usage: { memory?: string } }[];
}

export function createSurvey({ api, copies, settings, readPod }: Dependencies): Survey {
  const { pods, claims, secrets, notes, nodes } = copies;
  let noMetricsUntil = 0;

  function look(id: string, pod: Pod | undefined): Observed {
    const claim = claims.get(objectName(id));
    const node = pod?.spec.nodeName === undefined ? undefined : nodes.get(pod.spec.nodeName);
    const mayRun = pod !== undefined && !isOver(pod) && !isCarrier(pod);
    const isDisk = claim !== undefined && !isRestoring(claim);
    return {
      id,
      // One that waits for its node or image begins at any moment, so it counts as running.
      runningGeneration: mayRun ? generationOf(pod) : null,
      hasDisk: isDisk && claim.metadata.deletionTimestamp === undefined,
      hasArchive: notes.get(noteName(id)) !== undefined,
      ...(mayRun && node !== undefined ? answering(node, nodes.values()) : {}),
    };
  }

  const current = () =>
    Promise.all([pods, claims, secrets, notes, nodes].map((followed) => followed.current()));

  const ids = (): Set<string> => {
    const all = [...pods.values(), ...claims.values(), ...secrets.values(), ...notes.values()];
    return new Set(all.map(sandboxOf).filter((id) => id !== null));
  };

  return {
    async observe() {
      await current();
      return [...ids()].map((id) => look(id, pods.get(objectName(id))));
    },

    // Its callers judge whether a machine has ended: a copy may be behind, so the API server says it.
    async inspect(id) {
      const [pod] = await Promise.all([readPod(id), current()]).catch((error: unknown) => {
        throw fromApi(error, 'The machine could not be looked at.');
      });
      return pod || ids().has(id) ? look(id, pod ?? undefined) : null;
    },

    async capacity() {
      await current();
      return capacityOf(nodes.values(), pods.values(), settings.gpuResource);
    },

    async usage(id): Promise<SandboxUsage> {
      const none = { cpuMs: null, memoryBytes: null, diskBytes: null };
      if (!pods.get(objectName(id)) || performance.now() < noMetricsUntil) return none;
      try {
        const path = metricsPath(settings.namespace, objectName(id));
        const { containers } = await api.get<PodMetrics>(path);
        return { ...none, memoryBytes: amountOf(containers[0]?.usage.memory) };
      } catch (error) {
        // Figures are not worth a failed call.
        if (hasNoMetrics(error, objectName(id)))
          noMetricsUntil = performance.now() + limits.kubernetes.noMetricsMs;
        return none;
      }
    },
  };
}

/** A cluster without metrics does not know their path; one that has them names the Pod that it has not measured yet. */
function hasNoMetrics(error: unknown, pod: string): boolean {
  return isMissing(error) && !String(error).includes(pod);
}

/** A cluster of one node has none to compare it with. */
function answering(node: Node, all: Node[]): Pick<Observed, 'unreachable' | 'allUnreachable'> {
  if (!isUnreachable(node)) return {};
  return all.length > 1 && all.every(isUnreachable)
    ? { unreachable: true, allUnreachable: true }
    : { unreachable: true };
}

/**
 * Capacity of the nodes that take Pods, less what our own Pods request. Pods of others are not seen, so this is the most
 * that can be free; the scheduler has the last word. While all nodes are away, as after an outage of the API server, they
 * count as if they were not: that is no want of room.
 */
export function capacityOf(nodes: Node[], pods: Pod[], gpuResource: string): Capacity {
  const allAway = nodes.every(isUnreachable);
  const usable = nodes.filter((node) => (allAway || !isUnreachable(node)) && !node.spec?.unschedulable);
  const names = new Set(usable.map(({ metadata }) => metadata.name));
  const living = pods.filter(
    (pod) => !isOver(pod) && (pod.spec.nodeName === undefined || names.has(pod.spec.nodeName)),
  );
  const all = (resource: string) =>
    usable.reduce((sum, { status }) => sum + amountOf(status?.allocatable?.[resource]), 0);
  const taken = (resource: string) =>
    living.reduce((sum, { spec }) => sum + amountOf(spec.containers[0]?.resources?.requests?.[resource]), 0);
  const gpus = all(gpuResource);
  return {
    freeMemoryBytes: Math.max(0, all('memory') - taken('memory')),
    freeDiskBytes: limits.kubernetes.unboundedDiskBytes,
    reserveMemoryBytes: limits.memoryGb.min * GiB,
    reserveDiskBytes: 0,
    freeSlots: Math.max(0, all('pods') - living.length),
    gpus,
    freeGpus: Math.max(0, gpus - taken(gpuResource)),
  };
}
