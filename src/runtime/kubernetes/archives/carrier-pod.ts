/**
 * The Pod of a carrier: the agent alone, of its own image, with the sandbox's disk. It has the name and the user namespace
 * of the sandbox's Pod: so the API server lets no other run on the disk meanwhile, and owners of files stay theirs.
 */
import type { Pod } from '../client/objects.ts';
import { CARRIER } from '../machine/names.ts';
import { DISK_FOLDER, type PodInputs, podOf } from '../machine/pod-spec.ts';

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

/** @param inputs With the agent's own image. */
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
