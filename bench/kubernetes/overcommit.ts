/**
 * An admission policy that lowers what Pods request: the nodes of the test cluster have the processors and memory of this
 * one machine, and a hundred Pods of two processors and 4 GiB would wait for room for ever. Limits stay. It holds for the
 * service's Pods and for those beside them.
 */
import type { Api } from '../../test/cluster/api.ts';

const GROUP = 'admissionregistration.k8s.io/v1';
const NAME = 'bench-requests';
const SETTLE_TRIES = 100;
const SETTLE_MS = 100;

/** All Pods of this bench have one container, with requests. */
const EXPRESSION = `[JSONPatch{
  op: "replace", path: "/spec/containers/0/resources/requests", value: {"cpu": "10m", "memory": "16Mi"}
}]`;

/** Resolves once the API server applies it. */
export async function lowerRequests(api: Api): Promise<void> {
  await api.create(`/apis/${GROUP}/mutatingadmissionpolicies`, {
    apiVersion: GROUP,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      reinvocationPolicy: 'Never',
      failurePolicy: 'Fail',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: EXPRESSION } }],
    },
  });
  await api.create(`/apis/${GROUP}/mutatingadmissionpolicybindings`, {
    apiVersion: GROUP,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: {
      policyName: NAME,
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
    },
  });
  const sizes = { cpu: '20m', memory: '32Mi' };
  const resources = { requests: sizes, limits: sizes };
  const probe = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME },
    spec: { containers: [{ name: 'main', image: 'none', resources }] },
  };
  for (let tries = 0; tries < SETTLE_TRIES; tries++) {
    const { spec } = await api.create('/api/v1/namespaces/default/pods?dryRun=All', probe);
    if (spec.containers[0].resources.requests.cpu === '10m') return;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }
  throw new Error('the API server does not apply the policy that lowers requests');
}
