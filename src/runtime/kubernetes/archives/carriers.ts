/** Carriers: made for one use of a disk, and removed after it, however it ends. */
import type { Duplex } from 'node:stream';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { Api } from '../client/api.ts';
import type { Pod } from '../client/objects.ts';
import type { AgentDoor, KubernetesSettings, PlacedImage } from '../client/settings.ts';
import type { Copies } from '../machine/copies.ts';
import { replaced } from '../machine/disk.ts';
import { CARRIER, generationOf, objectName } from '../machine/names.ts';
import { DISK_FOLDER, type PodInputs, podOf } from '../machine/pod-spec.ts';
import { addressOf } from '../machine/pod-state.ts';
import type { Pods } from '../machine/pods.ts';
import { agentAnswers } from '../machine/readiness.ts';
import type { Secrets } from '../machine/secrets.ts';

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

/** Any file of the disk is read and made, with its owner, its mode and its capabilities. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETFCAP',
  // Of the start: the key is taken out of view, and the right to do so given up.
  'SETPCAP',
  'SYS_ADMIN',
];

/**
 * The file system's own folder, and what the overlay of the sandbox's root needs while it is mounted. The folder of its work
 * stays, which shows that the root is complete (native/agent/src/init/root).
 */
export const leftOut = ['lost+found', 'spare', 'work/'];

/**
 * The agent alone, with the sandbox's disk. The Pod has the name and the user namespace of the sandbox's own: so the API server
 * lets no other run on the disk meanwhile, and owners of files stay theirs.
 * @param inputs With the agent's own image.
 */
export function carrierPodOf(inputs: PodInputs): Pod {
  const pod = podOf(inputs);
  const { metadata, spec } = pod;
  const [container] = spec.containers;
  if (!container) throw new Error('a Pod without a container');
  const [, ...options] = (container.command ?? []).filter((option) => option !== '--root-disk');
  const ofDisk = options.filter((option) => option !== DISK_FOLDER);
  const { securityContext, volumeMounts } = container as unknown as {
    securityContext: object;
    volumeMounts: { name: string }[];
  };
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [CARRIER]: 'true' } },
    spec: {
      ...spec,
      volumes: (spec['volumes'] as { name: string }[]).filter(({ name }) => name !== 'agent'),
      containers: [
        {
          ...container,
          command: ['/sandhaven-agent', ...ofDisk, '--carry', DISK_FOLDER],
          volumeMounts: volumeMounts.filter(({ name }) => name !== 'agent'),
          securityContext: { ...securityContext, capabilities: { drop: ['ALL'], add: CAPABILITIES } },
        },
      ],
    },
  };
}
