/** The part of the runtime port that starts, stops, resizes, grows and removes sandboxes, and connects to them. */
import type { Runtime } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { AgentDoor } from '../client/settings.ts';
import type { Copies } from './copies.ts';
import type { Disks } from './disk.ts';
import { generationOf, isCarrier, objectName, sandboxOf } from './names.ts';
import { addressOf, isOver, isRunning } from './pod-state.ts';
import type { Pods } from './pods.ts';
import type { Resize } from './resize.ts';
import type { Secrets } from './secrets.ts';
import type { Start } from './start.ts';
import { checkId, type Turns } from './turns.ts';

type Lifecycle = Pick<Runtime, 'start' | 'stop' | 'resizeLive' | 'growDisk' | 'destroy' | 'openChannel'>;

interface Dependencies {
  copies: Copies;
  pods: Pods;
  disks: Disks;
  secrets: Secrets;
  start: Start;
  resize: Resize;
  door: Pick<AgentDoor, 'connect'>;
  turns: Turns;
  /** Returns whether the storage can grow; `resource_exhausted` would promise a later success. */
  growsDisks(): boolean;
  removeArchive(id: string): Promise<void>;
}

export function createLifecycle(parts: Dependencies): Lifecycle {
  const { copies, pods, disks, secrets, start, resize, door, turns } = parts;

  async function stop(id: string, graceMs: number, newest = Number.POSITIVE_INFINITY): Promise<void> {
    const pod = await pods.read(id);
    if (pod && generationOf(pod) > newest) return;
    if (pod) await pods.remove(pod, graceMs);
    await secrets.removeAll(id);
  }

  async function destroy(id: string): Promise<void> {
    const pod = await pods.read(id);
    await Promise.all([
      pod && pods.remove(pod, 0),
      secrets.removeAll(id),
      disks.remove(id),
      parts.removeArchive(id),
    ]);
    const wait = { timeoutMs: limits.kubernetes.goneMs, late: notRemoved };
    await copies.claims.until(objectName(id), (found) => (found ? undefined : true), wait);
    const left = copies.secrets.values().filter((secret) => sandboxOf(secret) === id);
    for (const { metadata } of left)
      await copies.secrets.until(metadata.name, (found) => (found ? undefined : true), wait);
  }

  return {
    start: (spec, generation, options) =>
      turns.inTurn(
        spec.id,
        'The machine could not be started.',
        (signal) => start(spec, generation, signal),
        options?.signal,
      ),

    stop: (id, graceMs, newest) =>
      turns.inTurn(id, 'The machine could not be stopped.', () => stop(id, graceMs, newest)),

    resizeLive: (id, resources) =>
      turns.inTurn(id, 'The machine could not be resized.', async () => {
        const pod = await pods.read(id);
        if (!pod || !isRunning(pod) || isCarrier(pod)) throw notRunning();
        await resize(pod, resources);
      }),

    growDisk: (id, diskGb) =>
      turns.inTurn(id, 'The disk could not be grown.', async () => {
        const pod = await pods.read(id);
        if (pod && !isOver(pod) && !isCarrier(pod)) throw stillRunning();
        if (pod && isCarrier(pod)) await pods.remove(pod, 0);
        if (!parts.growsDisks()) throw cannotGrow();
        await disks.grow(id, diskGb);
      }),

    destroy: (id) => turns.atOnce(id, 'The sandbox could not be removed.', () => destroy(id)),

    async openChannel(id) {
      checkId(id);
      await copies.pods.current();
      const pod = copies.pods.get(objectName(id));
      const address = pod && addressOf(pod);
      if (!pod || !address || isCarrier(pod)) throw notRunning();
      return door.connect(address, id, generationOf(pod), () => turns.busy(id));
    },
  };
}

function notRunning(): SandhavenError {
  const hint = 'Start the sandbox first.';
  return new SandhavenError('unavailable', 'The machine does not run.', { hint });
}

function stillRunning(): SandhavenError {
  const hint = 'Stop the sandbox first.';
  return new SandhavenError('unavailable', 'The disk is in use.', { hint });
}

function cannotGrow(): SandhavenError {
  return new SandhavenError('failed_precondition', "The cluster's storage class does not let disks grow.", {
    parameter: 'disk',
    hint: 'Create a sandbox with a larger disk; the operator can choose a storage class with allowVolumeExpansion.',
  });
}

function notRemoved(): SandhavenError {
  const hint = 'Try again: the cluster goes on with it.';
  return new SandhavenError('unavailable', 'The storage of the sandbox is not removed yet.', { hint });
}
