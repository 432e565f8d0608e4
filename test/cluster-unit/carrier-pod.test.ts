import { expect, it } from 'vitest';
import { carrierPodOf } from '../../src/runtime/kubernetes/archives/carriers.ts';
import { podOf } from '../../src/runtime/kubernetes/machine/pod-spec.ts';

const settings = {
  instanceId: 'abc123',
  namespace: 'sandboxes',
  agentImage: 'registry.example/sandhaven-agent:1',
  storageClass: null,
  runtimeClass: 'kata',
  gpuResource: 'nvidia.com/gpu',
  network: { serviceNamespace: null, clients: [], refused: [] },
};
const inputs = {
  id: 'sb_0123456789abcdef',
  generation: 7,
  resources: { cpu: 4, memory: 8, disk: 0, gpu: 1 },
  image: { reference: settings.agentImage, pullSecrets: [] },
  service: 'sandhaven://service/abc123',
  settings,
};

it('a carrier is the agent alone, under the name and in the user namespace of the sandbox', () => {
  const pod = carrierPodOf(inputs);
  const sandbox = podOf(inputs);
  expect(pod.metadata).toEqual({
    ...sandbox.metadata,
    annotations: { 'sandhaven.dev/generation': '7', 'sandhaven.dev/carrier': 'true' },
  });
  const { containers, volumes, ...rest } = pod.spec;
  const { containers: _, volumes: ofSandbox, ...restOfSandbox } = sandbox.spec;
  expect(rest).toEqual(restOfSandbox);
  expect(rest).toMatchObject({ hostUsers: false, automountServiceAccountToken: false });
  expect(volumes).toEqual((ofSandbox as { name: string }[]).filter(({ name }) => name !== 'agent'));
  expect(containers).toEqual([
    {
      name: 'sandbox',
      image: 'registry.example/sandhaven-agent:1',
      imagePullPolicy: 'IfNotPresent',
      command: [
        '/sandhaven-agent',
        ...['--sandbox-id', 'sb_0123456789abcdef', '--generation', '7', '--listen', 'tls://0.0.0.0:7421'],
        ...['--tls-dir', '/.sandhaven/tls', '--service', 'sandhaven://service/abc123'],
        ...['--carry', '/.sandhaven/disk'],
      ],
      ports: [{ name: 'agent', containerPort: 7421, protocol: 'TCP' }],
      resources: {
        requests: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': '1' },
        limits: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': '1' },
      },
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
          add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETFCAP', 'SETPCAP', 'SYS_ADMIN'],
        },
      },
      terminationMessagePath: '/.sandhaven/ended',
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [
        { name: 'tls', mountPath: '/.sandhaven/tls', readOnly: true },
        { name: 'disk', mountPath: '/.sandhaven/disk' },
      ],
    },
  ]);
});
