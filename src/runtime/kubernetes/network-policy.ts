/**
 * The NetworkPolicy of an instance's sandboxes: they reach the internet and the cluster's DNS, and neither Pods, Services,
 * nodes nor metadata services; only the service reaches them, at the agent's port. The cluster's network plugin enforces it.
 */
import { isIPv4 } from 'node:net';
import { SandhavenError } from '../../model/errors.ts';
import type { LearningPolicy, NetworkPolicy as SandboxPolicy } from '../../model/network/policy.ts';
import { blockedIPv4 } from '../../model/network/public-addresses.ts';
import type { Api } from './client/api.ts';
import { isConflict, isMissing } from './client/failure.ts';
import { type KubeObject, type List, type Node, policyPath, serviceRangesPath } from './client/objects.ts';
import { AGENT_PORT, type KubernetesSettings } from './client/settings.ts';
import { instanceLabels } from './machine/names.ts';

export interface NetworkPolicy extends KubeObject {
  spec: object;
}

/** Pods of the service itself have this label; those of sandboxes do not. */
export const SERVICE_LABEL = { 'app.kubernetes.io/name': 'sandhaven' };

const DNS_PORT = 53;

/** Makes the policy, or gives the one that is there its present contents. */
export async function applyPolicy(api: Api, settings: KubernetesSettings, nodes: Node[]): Promise<void> {
  const refused = [...settings.network.refused, ...networksOf(nodes), ...(await serviceRanges(api))];
  const policy = policyOf(settings, refused);
  const { name } = policy.metadata;
  try {
    await api.create(policyPath(settings.namespace), policy);
  } catch (error) {
    if (!isConflict(error)) throw error;
    await api.patch(policyPath(settings.namespace, name), { spec: policy.spec }, 'merge');
  }
}

/** @param refused Networks beside all that are not public; those of IPv6 are refused anyway. */
export function policyOf(settings: KubernetesSettings, refused: string[]): NetworkPolicy {
  const { instanceId, namespace, network } = settings;
  const sandboxes = instanceLabels(instanceId);
  const clients = network.clients.map((cidr) => ({ ipBlock: { cidr } }));
  const place = network.serviceNamespace;
  const service = {
    ...(place === null
      ? {}
      : { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place } } }),
    podSelector: { matchLabels: SERVICE_LABEL },
  };
  const ports = (...protocols: string[]) => protocols.map((protocol) => ({ protocol, port: DNS_PORT }));
  const except = [...new Set([...blockedIPv4, ...refused.filter(isIPv4Network)])].toSorted();
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `sandhaven-${instanceId}`, namespace, labels: sandboxes },
    spec: {
      podSelector: { matchLabels: sandboxes },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [service, ...clients],
          ports: [{ protocol: 'TCP', port: AGENT_PORT }],
        },
      ],
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: ports('UDP', 'TCP'),
        },
        // No IPv6: as on one machine, sandboxes have none.
        { to: [{ ipBlock: { cidr: '0.0.0.0/0', except } }] },
      ],
    },
  };
}

/** Throws `failed_precondition` for a policy of a sandbox but the open one, which alone the policy of all Pods holds. */
export function assertOpen({ mode }: SandboxPolicy | LearningPolicy): void {
  if (mode === 'open') return;
  throw new SandhavenError('failed_precondition', 'On Kubernetes sandboxes have no network policies.', {
    parameter: 'network',
    hint: 'Leave network out, or set it to open.',
  });
}

/** Networks that the nodes have for Pods, and their own addresses, which may be public. */
function networksOf(nodes: Node[]): string[] {
  return nodes.flatMap(({ spec, status }) => {
    const addresses = (status?.addresses ?? []).map(({ address }) => address).filter(isIPv4);
    return [...(spec?.podCIDRs ?? []), ...addresses.map((address) => `${address}/32`)];
  });
}

/** Networks of Services; none where the API does not show them, as before Kubernetes 1.33. */
async function serviceRanges(api: Api): Promise<string[]> {
  try {
    const { items } = await api.get<List<KubeObject & { spec?: { cidrs?: string[] } }>>(serviceRangesPath);
    return (items ?? []).flatMap(({ spec }) => spec?.cidrs ?? []);
  } catch (error) {
    if (isMissing(error) || isForbidden(error)) return [];
    throw error;
  }
}

const isForbidden = (error: unknown): boolean => (error as { status?: number }).status === 403;

const isIPv4Network = (network: string): boolean => isIPv4(network.split('/')[0] ?? '');
