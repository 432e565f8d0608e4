/**
 * Waits until the agent of a Pod answers. The agent is called as soon as the Pod has an address: the kubelet reports a
 * container that runs up to a second later than it does. Meanwhile the Pod, its events and the scheduler are looked at
 * for a reason why it never will.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { nodeAway } from '../../../model/lost-node.ts';
import type { Api } from '../client/api.ts';
import { bounded } from '../client/failure.ts';
import { inNamespace, type KubeEvent, type List, type Pod } from '../client/objects.ts';
import type { AgentDoor } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import {
  addressOf,
  isBehind,
  isRunning,
  isUnreachable,
  isUnseen,
  mountFailure,
  schedulerSilent,
  startFailure,
  unschedulable,
  unschedulableFailure,
} from './pod-state.ts';

const { answerMs, goneUnreachableMs, startMs, mountMs, eventIntervalMs } = limits.kubernetes;
const { unschedulableMs, schedulerBehindMs, schedulerSilentMs } = limits.kubernetes;

const troubles = ['FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox', 'FailedCreatePodContainer'];

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'pods' | 'nodes'>;
  door: Pick<AgentDoor, 'connect'>;
  log: Log;
}

export interface Awaited {
  id: string;
  generation: number;
  pod: Pod;
  signal: AbortSignal;
}

/** Rejects with the reason when the Pod cannot start, is gone, or has not started in time. */
export async function agentAnswers(parts: Dependencies, awaited: Awaited): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([awaited.signal, ended.signal]);
  const attempt = { ...awaited, signal };
  try {
    await Promise.race([connect(parts, attempt), findTrouble(parts, attempt)]);
  } finally {
    ended.abort();
  }
}

async function connect({ copies, door, log }: Dependencies, awaited: Awaited): Promise<void> {
  const { id, generation, pod, signal } = awaited;
  const { name, uid } = pod.metadata;
  const deadline = performance.now() + startMs;
  let runsSince: number | null = null;
  const judge = (found: Pod | undefined): string | undefined => {
    // The copy may not have the new Pod yet, or still have the one before it.
    if (found === undefined || found.metadata.uid !== uid) return undefined;
    if (found.metadata.deletionTimestamp) throw removed();
    const failure = startFailure(found);
    if (failure) {
      log.warn('a Pod did not start', { sandbox: id, generation, status: found.status });
      throw failure;
    }
    return addressOf(found) ?? undefined;
  };
  for (;;) {
    const timeoutMs = Math.max(0, deadline - performance.now());
    const address = await copies.pods.until(name, judge, { timeoutMs, late: tooLate, signal });
    try {
      // Not before its container runs does a failure to connect say anything.
      const starting = () => !signal.aborted && judge(copies.pods.get(name)) !== undefined;
      (await door.connect(address, id, generation, starting)).destroy();
      return;
    } catch (error) {
      signal.throwIfAborted();
      const seen = copies.pods.get(name);
      judge(seen);
      const now = performance.now();
      if (seen !== undefined && isRunning(seen)) runsSince ??= now;
      // The network of a node that has just begun may lose what is sent to its first Pods.
      if (now > deadline || (runsSince !== null && now - runsSince >= answerMs)) throw error;
      await sleep(100, undefined, { signal });
    }
  }
}

/** Never resolves. */
async function findTrouble({ api, copies }: Dependencies, { pod, signal }: Awaited): Promise<never> {
  const { name, uid, namespace = '' } = pod.metadata;
  let refusedAt: number | null = null;
  let awayAt: number | null = null;
  let lookedAt = performance.now();
  const begun = performance.now();
  for (;;) {
    await sleep(500, undefined, { signal });
    const seen = copies.pods.get(name);
    if (seen?.metadata.uid !== uid || seen === undefined) continue;
    const now = performance.now();
    const node = copies.nodes.get(seen.spec.nodeName ?? '');
    awayAt = node && isUnreachable(node) ? (awayAt ?? now) : null;
    if (awayAt !== null && now - awayAt >= goneUnreachableMs) throw nodeAway();
    if (isUnseen(seen) && now - begun >= schedulerSilentMs) throw schedulerSilent();
    const reason = unschedulable(seen);
    refusedAt = reason === null ? null : (refusedAt ?? now);
    const patienceMs = reason !== null && isBehind(reason) ? schedulerBehindMs : unschedulableMs;
    if (reason !== null && refusedAt !== null && now - refusedAt >= patienceMs)
      throw unschedulableFailure(reason);
    const mounts = seen.spec.nodeName !== undefined && !isRunning(seen) && now - begun >= mountMs;
    if (!mounts || now - lookedAt < eventIntervalMs) continue;
    lookedAt = now;
    const query = { fieldSelector: `involvedObject.uid=${uid},type=Warning`, limit: '50' };
    const { items } = await api.get<List<KubeEvent>>(inNamespace(namespace, 'events'), { query, signal });
    const trouble = items?.findLast(({ reason = '' }) => troubles.includes(reason));
    if (trouble) throw mountFailure(bounded(`${trouble.reason}: ${trouble.message ?? ''}`));
  }
}

function removed(): SandhavenError {
  return new SandhavenError('unavailable', 'The Pod of the sandbox was deleted while it started.', {
    hint: 'Try again.',
  });
}

function tooLate(): SandhavenError {
  return new SandhavenError('unavailable', 'The sandbox has not started in time.', {
    hint: 'Try again: its image may have been pulled by then.',
  });
}
