/** Judges the state of a Pod, as the API shows it, by pure functions. */
import { SandhavenError } from '../../../model/errors.ts';
import { bounded } from '../client/failure.ts';
import type { ContainerStatus, Node, Pod } from '../client/objects.ts';

/** Its container has ended, or never will begin. A Pod never begins again. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Returns the address once the Pod has a network; its container may not have begun. */
export function addressOf(pod: Pod): string | null {
  return isOver(pod) ? null : (pod.status?.podIP ?? null);
}

export function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running';
}

export function mainStatus({ status }: Pod): ContainerStatus | undefined {
  return status?.containerStatuses?.[0];
}

/** Returns the scheduler's reason for having no node; null when it has one, or has not looked. */
export function unschedulable({ spec, status }: Pod): string | null {
  if (spec.nodeName) return null;
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return null;
  return scheduled.message ?? scheduled.reason ?? 'no node fits';
}

/** Returns true for a Pod that the scheduler has not looked at. */
export function isUnseen({ spec, status }: Pod): boolean {
  return !spec.nodeName && !status?.conditions?.some(({ type }) => type === 'PodScheduled');
}

/**
 * Returns true for a claim that the scheduler does not find: it is there before its Pod. After an outage of the API server the
 * scheduler's own watches return up to half a minute later.
 */
export function isBehind(reason: string): boolean {
  return /persistentvolumeclaim "[^"]*" not found/.test(reason);
}

/** The node does not report any more: its Pods may run or not. */
export function isUnreachable({ spec, status }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const tainted = spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/unreachable') ?? false;
  return ready?.status === 'Unknown' || tainted;
}

/** A first failure of a pull may pass, so the kubelet's first retry is waited for. */
const noPull = ['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'];
const noContainer = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

/** Returns the error of a start that cannot succeed; null while it may. */
export function startFailure(pod: Pod): SandhavenError | null {
  const state = mainStatus(pod)?.state;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (noPull.includes(reason)) return pullFailure(message || reason);
  if (noContainer.includes(reason)) return containerFailure(`${reason}: ${message}`);
  if (state?.terminated) {
    const { exitCode, message: said = '', reason: why = '' } = state.terminated;
    return ended(`its agent ended with status ${exitCode} (${why || 'no reason'})${said ? `: ${said}` : ''}`);
  }
  if (isOver(pod)) {
    const { reason: why = 'Failed', message: said = '' } = pod.status ?? {};
    return ended(`its Pod is over (${why})${said ? `: ${said}` : ''}`);
  }
  return null;
}

/** @param reason Text of the scheduler. */
export function unschedulableFailure(reason: string): SandhavenError {
  if (isBehind(reason)) return schedulerBehind();
  const short = /insufficient|too many pods|exceed|didn't find available persistent volumes/i.test(reason);
  return new SandhavenError(
    short ? 'resource_exhausted' : 'unavailable',
    `No node of the cluster takes the sandbox: ${bounded(reason)}`,
    short
      ? { hint: 'Ask for less, or stop or delete a sandbox, then try again.', retryable: true }
      : { hint: 'Ask the operator: nodes, storage class or runtime class do not fit.' },
  );
}

export function schedulerSilent(): SandhavenError {
  return new SandhavenError('unavailable', "The cluster's scheduler has not looked at the sandbox.", {
    hint: 'Try again; when it fails again, ask the operator whether the scheduler of the cluster runs.',
    retryable: true,
  });
}

/** @param reason Message of the event. */
export function mountFailure(reason: string): SandhavenError {
  return new SandhavenError('unavailable', `The node cannot prepare the sandbox: ${bounded(reason)}`, {
    hint: 'Try again; when it fails again, ask the operator to look at the storage of the cluster.',
  });
}

function pullFailure(reason: string): SandhavenError {
  return new SandhavenError('unavailable', `The node cannot pull an image: ${bounded(reason)}`, {
    hint: 'Check that the image exists and that the nodes reach its registry; the service’s credentials are used.',
  });
}

function containerFailure(reason: string): SandhavenError {
  return new SandhavenError('unavailable', `The node cannot make the container: ${bounded(reason)}`, {
    hint: 'Ask the operator: the cluster lacks a feature, or a setting of the service does not fit it.',
  });
}

function ended(what: string): SandhavenError {
  return new SandhavenError('unavailable', `The sandbox did not start: ${bounded(what)}`, {
    hint: "Try again; when it fails again, the service's log has the cause.",
  });
}

function schedulerBehind(): SandhavenError {
  return new SandhavenError('unavailable', "The cluster's scheduler does not see the sandbox's disk yet.", {
    hint: 'Try again in a moment: the cluster recovers from an outage.',
    retryable: true,
  });
}
