/**
 * Turns NetworkPolicies (networking.k8s.io/v1) into an nftables ruleset, which each node loads in its own network
 * namespace.
 *
 * A new connection from an isolated Pod passes the Pod's `out` chain, one to an isolated Pod its `in` chain, on each
 * node that forwards it. A rule that allows it returns from the chain; the end of a chain drops. What a node itself
 * sends to its Pods is not forwarded and always allowed, as Kubernetes demands.
 */
import { matches, type Selector } from './selector.ts';

export interface PolicyPod {
  namespace: string;
  labels: Record<string, string>;
  address: string;
  /** Ports with names, which a rule may use instead of numbers. */
  ports: { name?: string; protocol?: string; containerPort: number }[];
}

export interface PolicyNamespace {
  name: string;
  labels: Record<string, string>;
}

export interface PolicyPort {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}

export interface PolicyPeer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface Policy {
  namespace: string;
  podSelector: Selector;
  policyTypes: string[];
  ingress?: { from?: PolicyPeer[]; ports?: PolicyPort[] }[];
  egress?: { to?: PolicyPeer[]; ports?: PolicyPort[] }[];
}

export interface PolicyState {
  namespaces: PolicyNamespace[];
  pods: PolicyPod[];
  policies: Policy[];
}

interface Direction {
  chain: 'in' | 'out';
  type: 'Ingress' | 'Egress';
  /** Address of the Pod that a policy selects, and of its peer, in nftables' words. */
  own: 'saddr' | 'daddr';
  peer: 'saddr' | 'daddr';
}

const DIRECTIONS: Direction[] = [
  { chain: 'out', type: 'Egress', own: 'saddr', peer: 'daddr' },
  { chain: 'in', type: 'Ingress', own: 'daddr', peer: 'saddr' },
];

/** Replaces all rules of an earlier state at once. */
export function rulesetOf(state: PolicyState): string {
  const chains: string[] = [];
  const jumps: string[] = [];
  for (const direction of DIRECTIONS) {
    const isolated: string[] = [];
    for (const pod of state.pods) {
      const policies = state.policies.filter((policy) => selects(policy, pod, direction));
      if (policies.length === 0) continue;
      const name = `${direction.chain}_${pod.address.replaceAll('.', '_')}`;
      isolated.push(`${pod.address} : jump ${name}`);
      const rules = policies.flatMap((policy) => allowed(policy, pod, direction, state));
      chains.push(
        `  chain ${name} {\n${[...new Set(rules), 'drop'].map((rule) => `    ${rule}\n`).join('')}  }`,
      );
    }
    if (isolated.length > 0) jumps.push(`    ip ${direction.own} vmap { ${isolated.join(', ')} }\n`);
  }
  const forward = `  chain forward {
    type filter hook forward priority filter; policy accept;
    ct state established,related accept
${jumps.join('')}  }`;
  return `table ip policies {}\ndelete table ip policies\ntable ip policies {\n${[...chains, forward].join('\n')}\n}\n`;
}

function selects(policy: Policy, pod: PolicyPod, { type }: Direction): boolean {
  return (
    policy.namespace === pod.namespace &&
    policy.policyTypes.includes(type) &&
    matches(policy.podSelector, pod.labels)
  );
}

function allowed(policy: Policy, pod: PolicyPod, direction: Direction, state: PolicyState): string[] {
  const rules =
    direction.type === 'Ingress'
      ? (policy.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (policy.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  return rules.flatMap(({ peers = [], ports = [] }) => {
    const named = ports.some(({ port }) => typeof port === 'string');
    const sources = peers.length === 0 && !named ? [''] : addressesOf(peers, policy, direction, state);
    return sources.flatMap((source) => {
      const server =
        direction.type === 'Ingress' ? pod : state.pods.find((one) => source.endsWith(` ${one.address}`));
      const matched = ports.length === 0 ? [''] : ports.flatMap((port) => portOf(port, server));
      return matched.map((port) => [source, port, 'return'].filter((part) => part !== '').join(' '));
    });
  });
}

/** Each a match of the peer's address; one for each Pod, as a name of a port may mean another number in each. */
function addressesOf(
  peers: PolicyPeer[],
  { namespace }: Policy,
  { type, peer }: Direction,
  { pods, namespaces }: PolicyState,
): string[] {
  const anybody = peers.length === 0;
  // A named port belongs to the Pod that is selected when it serves, so anybody is one match then.
  if (anybody && type === 'Ingress') return [''];
  const wanted = anybody ? [{ namespaceSelector: {} }] : peers;
  return wanted.flatMap(({ ipBlock, podSelector, namespaceSelector }: PolicyPeer) => {
    if (ipBlock) {
      const { cidr, except = [] } = ipBlock;
      const without = except.length > 0 ? ` ip ${peer} != { ${except.join(', ')} }` : '';
      return [`ip ${peer} ${cidr}${without}`];
    }
    return pods
      .filter((pod) => {
        const labels = namespaces.find(({ name }) => name === pod.namespace)?.labels ?? {};
        const inside = namespaceSelector ? matches(namespaceSelector, labels) : pod.namespace === namespace;
        return inside && matches(podSelector ?? {}, pod.labels);
      })
      .map(({ address }) => `ip ${peer} ${address}`);
  });
}

/** No match when a Pod has no port of that name. */
function portOf({ protocol = 'TCP', port, endPort }: PolicyPort, server: PolicyPod | undefined): string[] {
  const name = protocol.toLowerCase();
  if (port === undefined) return [`meta l4proto ${name}`];
  if (typeof port === 'number') return [`${name} dport ${port}${endPort === undefined ? '' : `-${endPort}`}`];
  return (server?.ports ?? [])
    .filter((one) => one.name === port && (one.protocol ?? 'TCP') === protocol)
    .map(({ containerPort }) => `${name} dport ${containerPort}`);
}
