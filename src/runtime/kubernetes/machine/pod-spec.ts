/** The Pod of a sandbox, its claim and its Secret, as pure functions of their inputs. */
import { arch } from 'node:os';
import { limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { Claim, Pod, Quantities, Secret } from '../client/objects.ts';
import { AGENT_PORT, type KubernetesSettings, type PlacedImage } from '../client/settings.ts';
import { GENERATION, objectName, sandboxLabels, secretName } from './names.ts';

export interface PodInputs {
  id: string;
  generation: number;
  resources: Resources;
  image: PlacedImage;
  /** Identity that the agent serves. */
  service: string;
  settings: KubernetesSettings;
}

/** The agent keeps the sandbox's root on it, and takes it and the Secret out of view. */
export const DISK_FOLDER = '/.sandhaven/disk';
const AGENT_FOLDER = '/.sandhaven/agent';
const TLS_FOLDER = '/.sandhaven/tls';

export const CONTAINER = 'sandbox';

/** Those of a sandbox on one machine, and one that the agent needs for its start and gives up before any program runs. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
  // Of the start: mounts.
  'SYS_ADMIN',
];

const PROCESSORS: Record<string, string> = { x64: 'amd64' };

export function podOf(inputs: PodInputs): Pod {
  const { id, generation, image, settings } = inputs;
  const { instanceId, namespace, runtimeClass } = settings;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: objectName(id),
      namespace,
      labels: sandboxLabels(instanceId, id),
      annotations: { [GENERATION]: String(generation) },
    },
    spec: {
      hostUsers: false,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      // For a Pod that something else deletes, such as a drain of its node.
      terminationGracePeriodSeconds: Math.ceil(limits.stopGraceMs / 1_000),
      dnsPolicy: 'ClusterFirst',
      ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass }),
      // Images are chosen for the service's own platform.
      nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': PROCESSORS[arch()] ?? arch() },
      securityContext: {
        seccompProfile: { type: 'RuntimeDefault' },
        // Echo requests without a raw socket, for all groups of the Pod; one of the settings that every node allows.
        sysctls: [{ name: 'net.ipv4.ping_group_range', value: '0 65535' }],
      },
      ...(image.pullSecrets.length === 0
        ? {}
        : { imagePullSecrets: image.pullSecrets.map((name) => ({ name })) }),
      containers: [containerOf(inputs)],
      volumes: [
        { name: 'agent', image: { reference: settings.agentImage, pullPolicy: 'IfNotPresent' } },
        { name: 'tls', secret: { secretName: secretName(id, generation), defaultMode: 0o400 } },
        { name: 'disk', persistentVolumeClaim: { claimName: objectName(id) } },
      ],
    },
  };
}

function containerOf({ id, generation, resources, image, service, settings }: PodInputs) {
  const sizes = quantitiesOf(resources, settings.gpuResource);
  return {
    name: CONTAINER,
    image: image.reference,
    imagePullPolicy: 'IfNotPresent',
    command: [
      `${AGENT_FOLDER}/sandhaven-agent`,
      ...['--sandbox-id', id, '--generation', String(generation)],
      ...['--listen', `tls://0.0.0.0:${AGENT_PORT}`, '--tls-dir', TLS_FOLDER, '--service', service],
      ...['--root-disk', DISK_FOLDER],
    ],
    ports: [{ name: 'agent', containerPort: AGENT_PORT, protocol: 'TCP' }],
    resources: { requests: sizes, limits: sizes },
    resizePolicy: [
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'memory', restartPolicy: 'NotRequired' },
    ],
    securityContext: {
      runAsUser: 0,
      runAsGroup: 0,
      privileged: false,
      // Programs inside may have set-user-id bits, as on any machine; SYS_ADMIN forbids another value besides.
      allowPrivilegeEscalation: true,
      capabilities: { drop: ['ALL'], add: CAPABILITIES },
    },
    // A file of the node; below /dev, programs inside could fill it.
    terminationMessagePath: '/.sandhaven/ended',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'agent', mountPath: AGENT_FOLDER, readOnly: true },
      { name: 'tls', mountPath: TLS_FOLDER, readOnly: true },
      { name: 'disk', mountPath: DISK_FOLDER },
    ],
  };
}

/** Sizes of a Pod are requests and limits alike: the scheduler divides what there is, and no more. */
export function quantitiesOf({ cpu, memory, gpu }: Resources, gpuResource: string): Quantities {
  return {
    cpu: String(cpu),
    memory: `${memory}Gi`,
    ...(gpu > 0 ? { [gpuResource]: String(gpu) } : {}),
  };
}

export function claimOf(settings: KubernetesSettings, id: string, generation: number, diskGb: number): Claim {
  const { instanceId, namespace, storageClass } = settings;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: objectName(id),
      namespace,
      labels: sandboxLabels(instanceId, id),
      annotations: { [GENERATION]: String(generation) },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass === null ? {} : { storageClassName: storageClass }),
      resources: { requests: { storage: `${diskGb}Gi` } },
    },
  };
}

export function secretOf(
  { instanceId, namespace }: KubernetesSettings,
  id: string,
  generation: number,
  files: Record<string, string>,
): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: secretName(id, generation),
      namespace,
      labels: sandboxLabels(instanceId, id),
      annotations: { [GENERATION]: String(generation) },
    },
    stringData: files,
  };
}
