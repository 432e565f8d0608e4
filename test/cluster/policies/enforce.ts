/** Enforces the cluster's NetworkPolicies on all its nodes, within about a tenth of a second of a change. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Api, KubeObject } from '../api.ts';
import type { Node } from '../node.ts';
import { type Policy, type PolicyNamespace, type PolicyPod, rulesetOf } from './ruleset.ts';

const PODS = '/api/v1/pods';
const NAMESPACES = '/api/v1/namespaces';
const POLICIES = '/apis/networking.k8s.io/v1/networkpolicies';

/** Changes come in groups: of a Pod that starts, several. */
const GROUP_MS = 20;

/**
 * @param failed Receives what goes wrong; the rules before it stay until the next change.
 * @param others Servers that are no Pods, and that policies select as if they were.
 * @returns a function that loads all rules again, for a node that has come back without them.
 */
export function enforcePolicies(
  api: Api,
  nodes: Node[],
  signal: AbortSignal,
  failed: (error: unknown) => void,
  others: PolicyPod[] = [],
): () => void {
  let loaded = '';
  let isDirty = false;
  let isRunning = false;
  const load = async () => {
    const [pods, namespaces, policies] = await Promise.all(
      [PODS, NAMESPACES, POLICIES].map((path) => api.get(path)),
    );
    const rules = rulesetOf({
      pods: [...pods.items.filter(hasOwnAddress).map(podOf), ...others],
      namespaces: namespaces.items.map(namespaceOf),
      policies: policies.items.map(policyOf),
    });
    if (rules === loaded || signal.aborted) return;
    for (const { room } of nodes) if (room.isOpen) room.run(['nft', '-f', '-'], rules);
    loaded = rules;
  };
  // One load after the other: an older state must not replace a newer one.
  const changed = async () => {
    isDirty = true;
    if (isRunning) return;
    isRunning = true;
    while (isDirty) {
      await delay(GROUP_MS);
      isDirty = false;
      await load().catch((error) => {
        if (!signal.aborted) failed(error);
      });
    }
    isRunning = false;
  };
  for (const path of [PODS, NAMESPACES, POLICIES]) api.watch(path, () => void changed(), signal);
  return () => {
    loaded = '';
    void changed();
  };
}

function hasOwnAddress({ spec, status }: KubeObject): boolean {
  const ended = status.phase === 'Succeeded' || status.phase === 'Failed';
  return Boolean(status.podIP) && !spec.hostNetwork && !ended;
}

function namespaceOf({ metadata }: KubeObject): PolicyNamespace {
  return { name: metadata.name, labels: metadata.labels ?? {} };
}

function podOf({ metadata, spec, status }: KubeObject): PolicyPod {
  return {
    namespace: metadata.namespace,
    labels: metadata.labels ?? {},
    address: status.podIP,
    ports: spec.containers.flatMap((container: KubeObject) => container.ports ?? []),
  };
}

function policyOf({ metadata, spec }: KubeObject): Policy {
  return { namespace: metadata.namespace, ...spec, podSelector: spec.podSelector ?? {} };
}
