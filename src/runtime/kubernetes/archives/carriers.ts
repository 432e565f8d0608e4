/** Carriers: made for one use of a disk, and removed after it, however it ends. */
import type { Duplex } from 'node:stream';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { Api } from '../client/api.ts';
import type { AgentDoor, KubernetesSettings, PlacedImage } from '../client/settings.ts';
import type { Copies } from '../machine/copies.ts';
import { replaced } from '../machine/disk.ts';
import { generationOf, objectName } from '../machine/names.ts';
import { addressOf } from '../machine/pod-state.ts';
import type { Pods } from '../machine/pods.ts';
import { agentAnswers } from '../machine/readiness.ts';
import type { Secrets } from '../machine/secrets.ts';
import { carrierPodOf } from './carrier-pod.ts';

export interface Carriers {
  /** Calls `work` with a way to open channels to a carrier on the sandbox's claim. No Pod may be there. */
  use<T>(use: CarrierUse, work: (open: () => Promise<Duplex>) => Promise<T>): Promise<T>;
}

export interface CarrierUse {
  id: string;
  generation: number;
  /** Of the carrier's Pod. */
  size: Resources;
  signal: AbortSignal;
}

export interface CarriersDependencies {
  api: Api;
  copies: Copies;
  pods: Pods;
  secrets: Secrets;
  door: AgentDoor;
  placeAgent(): Promise<PlacedImage>;
  settings: KubernetesSettings;
  log: Log;
}

export function createCarriers(parts: CarriersDependencies): Carriers {
  const { copies, pods, secrets, door, placeAgent, settings, log } = parts;

  /** The next operation on the sandbox removes what stays. */
  async function remove(id: string, generation: number): Promise<void> {
    try {
      const signal = AbortSignal.timeout(limits.kubernetes.goneMs);
      const pod = await pods.read(id, signal);
      if (pod && generationOf(pod) > generation) return;
      if (pod) await pods.remove(pod, 0, signal);
      await secrets.remove(id, generation);
    } catch (error) {
      log.warn('a carrier could not be removed', { sandbox: id, generation, error });
    }
  }

  return {
    async use({ id, generation, size, signal }, work) {
      try {
        const [image] = await Promise.all([placeAgent(), secrets.put(id, generation)]);
        signal.throwIfAborted();
        const inputs = { id, generation, resources: size, image, service: door.service, settings };
        const pod = await pods.create(carrierPodOf(inputs));
        if (!pod) throw replaced();
        await agentAnswers(parts, { id, generation, pod, signal });
        const open = async (): Promise<Duplex> => {
          const found = copies.pods.get(objectName(id));
          const address = found && found.metadata.uid === pod.metadata.uid ? addressOf(found) : null;
          if (address === null) throw replaced();
          return door.connect(address, id, generation, () => false);
        };
        return await work(open);
      } finally {
        await remove(id, generation);
      }
    },
  };
}
