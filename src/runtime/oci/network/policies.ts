/**
 * Network policies of machines, as set since the service's start. The store holds what is meant for each sandbox; the
 * control layer sets it here before a machine starts, and this record lives as long as the machine.
 */
import type { NetworkPolicy } from '../../../model/network/policy.ts';

export interface NetworkPolicies {
  set(id: string, policy: NetworkPolicy): Promise<void>;
  /** Returns null for a machine that nobody has set one for: it reaches nothing. */
  of(id: string): NetworkPolicy | null;
  forget(id: string): void;
}

export function createNetworkPolicies(): NetworkPolicies {
  const policies = new Map<string, NetworkPolicy>();
  return {
    set: async (id, policy) => void policies.set(id, policy),
    of: (id) => policies.get(id) ?? null,
    forget: (id) => void policies.delete(id),
  };
}
