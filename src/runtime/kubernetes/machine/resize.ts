/**
 * Changes cpu and memory of a running Pod in place, by its `resize` subresource. The kubelet decides: where its node has
 * no room, or programs use more memory than the new limit, the old sizes are set again.
 */
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { Api } from '../client/api.ts';
import { bounded } from '../client/failure.ts';
import { amountOf, type Condition, inNamespace, type Pod, type Quantities } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import { CONTAINER, quantitiesOf } from './pod-spec.ts';
import { isOver, mainStatus } from './pod-state.ts';

/** Resolves when the sizes hold. Rejects with `resource_exhausted`, the old sizes restored, when they cannot. */
export type Resize = (pod: Pod, resources: Resources) => Promise<void>;

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'pods'>;
  settings: KubernetesSettings;
  log: Log;
}

export function createResize({ api, copies, settings, log }: Dependencies): Resize {
  const set = ({ metadata }: Pod, sizes: Quantities): Promise<Pod> => {
    const { cpu = '', memory = '' } = sizes;
    const resources = { requests: { cpu, memory }, limits: { cpu, memory } };
    const body = { spec: { containers: [{ name: CONTAINER, resources }] } };
    const path = inNamespace(settings.namespace, 'pods', metadata.name, 'resize');
    return api.patch<Pod>(path, body, 'strategic-merge');
  };

  return async (pod, resources) => {
    const wanted = quantitiesOf(resources, settings.gpuResource);
    const before = pod.spec.containers[0]?.resources?.limits ?? {};
    const patched = await set(pod, wanted);
    try {
      await copies.pods.until(pod.metadata.name, (found) => judgeResize(found, patched, wanted), {
        timeoutMs: limits.kubernetes.resizeMs,
        late: () => refused('the node has not answered in time'),
      });
    } catch (error) {
      await set(pod, before).catch((late: unknown) => {
        log.error('the sizes of a Pod could not be set back', { pod: pod.metadata.name, error: late });
      });
      throw error;
    }
  };
}

/**
 * Returns true when the sizes hold, undefined while nothing is decided; throws when they are refused.
 * @param patched The Pod as the API server answered the change.
 */
export function judgeResize(found: Pod | undefined, patched: Pod, wanted: Quantities): true | undefined {
  if (found === undefined || found.metadata.uid !== patched.metadata.uid || isOver(found)) throw gone();
  const { generation = 0 } = patched.metadata;
  const { observedGeneration = generation, conditions = [] } = found.status ?? {};
  // Conditions and sizes of before the change say nothing.
  if ((found.metadata.generation ?? 0) < generation || observedGeneration < generation) return undefined;
  const at = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True');
  const pending = at('PodResizePending');
  if (pending) throw refused(`${pending.reason ?? ''} ${pending.message ?? ''}`);
  const progress = at('PodResizeInProgress');
  if (progress?.reason === 'Error') throw refused(progress.message ?? 'the kubelet failed');
  if (progress) return undefined;
  const limits = mainStatus(found)?.resources?.limits ?? {};
  const holds = ['cpu', 'memory'].every((name) => amountOf(limits[name]) === amountOf(wanted[name]));
  return holds ? true : undefined;
}

function refused(reason: string): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The sandbox keeps its sizes, since its node refuses the new ones: ${bounded(reason)}.`,
    { hint: 'Ask for less, or stop the sandbox first: a start chooses a node anew.', retryable: true },
  );
}

function gone(): SandhavenError {
  const hint = 'Start the sandbox first.';
  return new SandhavenError('unavailable', 'The machine ended while it was being resized.', { hint });
}
