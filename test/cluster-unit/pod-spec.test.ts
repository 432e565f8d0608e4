/** The objects of a sandbox, literally as they go to the API server. */
import { describe, expect, it } from 'vitest';
import type { KubernetesSettings } from '../../src/runtime/kubernetes/client/settings.ts';
import { claimOf, podOf, quantitiesOf, secretOf } from '../../src/runtime/kubernetes/machine/pod-spec.ts';

const settings: KubernetesSettings = {
  instanceId: 'abc123',
  namespace: 'sandboxes',
  agentImage: 'registry.example/sandhaven-agent:1',
  storageClass: 'fast',
  runtimeClass: 'kata',
  gpuResource: 'nvidia.com/gpu',
  network: { serviceNamespace: null, clients: [], refused: [] },
};
const id = 'sb_0123456789abcdef';
const labels = {
  'app.kubernetes.io/managed-by': 'sandhaven',
  'sandhaven.dev/instance': 'abc123',
  'sandhaven.dev/sandbox': 'sb_0123456789abcdef',
};
const metadata = {
  name: 'sandbox-sb-0123456789abcdef',
  namespace: 'sandboxes',
  labels,
  annotations: { 'sandhaven.dev/generation': '7' },
};

describe('the Pod of a sandbox', () => {
  const inputs = {
    id,
    generation: 7,
    resources: { cpu: 2, memory: 4, disk: 20, gpu: 1 },
    image: { reference: 'registry.example/base@sha256:00', pullSecrets: ['pull'] },
    service: 'sandhaven://service/abc123',
    settings,
  };
  const sizes = { cpu: '2', memory: '4Gi', 'nvidia.com/gpu': '1' };

  it('has a user namespace, no account, no right but those of a machine and of the start, and three mounts', () => {
    expect(podOf(inputs)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        hostUsers: false,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 2,
        dnsPolicy: 'ClusterFirst',
        runtimeClassName: 'kata',
        nodeSelector: {
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': expect.stringMatching(/^a(md|rm)64$/),
        },
        securityContext: {
          seccompProfile: { type: 'RuntimeDefault' },
          sysctls: [{ name: 'net.ipv4.ping_group_range', value: '0 65535' }],
        },
        imagePullSecrets: [{ name: 'pull' }],
        containers: [
          {
            name: 'sandbox',
            image: 'registry.example/base@sha256:00',
            imagePullPolicy: 'IfNotPresent',
            command: [
              '/.sandhaven/agent/sandhaven-agent',
              ...['--sandbox-id', 'sb_0123456789abcdef', '--generation', '7'],
              ...['--listen', 'tls://0.0.0.0:7421', '--tls-dir', '/.sandhaven/tls'],
              ...['--service', 'sandhaven://service/abc123'],
              ...['--root-disk', '/.sandhaven/disk'],
            ],
            ports: [{ name: 'agent', containerPort: 7421, protocol: 'TCP' }],
            resources: { requests: sizes, limits: sizes },
            resizePolicy: [
              { resourceName: 'cpu', restartPolicy: 'NotRequired' },
              { resourceName: 'memory', restartPolicy: 'NotRequired' },
            ],
            securityContext: {
              runAsUser: 0,
              runAsGroup: 0,
              privileged: false,
              allowPrivilegeEscalation: true,
              capabilities: {
                drop: ['ALL'],
                add: [
                  ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'NET_BIND_SERVICE', 'SETFCAP'],
                  ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT', 'SYS_ADMIN'],
                ],
              },
            },
            terminationMessagePath: '/.sandhaven/ended',
            terminationMessagePolicy: 'FallbackToLogsOnError',
            volumeMounts: [
              { name: 'agent', mountPath: '/.sandhaven/agent', readOnly: true },
              { name: 'tls', mountPath: '/.sandhaven/tls', readOnly: true },
              { name: 'disk', mountPath: '/.sandhaven/disk' },
            ],
          },
        ],
        volumes: [
          {
            name: 'agent',
            image: { reference: 'registry.example/sandhaven-agent:1', pullPolicy: 'IfNotPresent' },
          },
          { name: 'tls', secret: { secretName: 'sandbox-sb-0123456789abcdef-7', defaultMode: 0o400 } },
          { name: 'disk', persistentVolumeClaim: { claimName: 'sandbox-sb-0123456789abcdef' } },
        ],
      },
    });
  });

  it('names neither a runtime class nor Secrets where there are none', () => {
    const bare = podOf({
      ...inputs,
      image: { reference: 'r', pullSecrets: [] },
      settings: { ...settings, runtimeClass: null },
    });
    expect(Object.keys(bare.spec)).not.toContain('runtimeClassName');
    expect(Object.keys(bare.spec)).not.toContain('imagePullSecrets');
  });

  it('has no GPU where none was asked for', () => {
    expect(quantitiesOf({ cpu: 1, memory: 1, disk: 1, gpu: 0 }, 'nvidia.com/gpu')).toEqual({
      cpu: '1',
      memory: '1Gi',
    });
  });
});

it('a claim has the size of the disk, and marks the generation', () => {
  expect(claimOf(settings, id, 7, 20)).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '20Gi' } },
    },
  });
});

it('a Secret belongs to one generation', () => {
  expect(secretOf(settings, id, 7, { 'tls.key': 'key' })).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { ...metadata, name: 'sandbox-sb-0123456789abcdef-7' },
    stringData: { 'tls.key': 'key' },
  });
});
