/**
 * Part of a network policy that the firewall decides by itself, packet by packet: all that does not depend on names. The
 * egress program decides the rest.
 */
import type { LearningPolicy, NetworkPolicy } from '../../../../model/network/policy.ts';
import { parseRule } from '../../../../model/network/rule-text.ts';
import { addressOf } from '../../host/plan.ts';
import { checkedPort, type Grant, grantsOf } from './grants.ts';

export interface AddressPolicy {
  /** `open`: all public addresses. `rules`: what the grants accept; TCP and DNS go to the egress program. */
  mode: 'open' | 'rules';
  grants: Grant[];
  /** Packets that grants accept are noted. */
  learns?: true;
  /** Ports whose TCP goes to the egress program, or nowhere, whatever else the policy allows. */
  ledPorts: number[];
}

/** Policies by address. An address without one reaches nothing. */
export type AddressPolicies = ReadonlyMap<string, AddressPolicy>;

/** Returns null for a policy under which nothing is reached. */
export function addressPolicyOf(
  policy: NetworkPolicy | LearningPolicy,
  ledPorts: number[] = [],
): AddressPolicy | null {
  switch (policy.mode) {
    case 'open':
      return { mode: 'open', grants: [], ledPorts: ledPorts.map(checkedPort) };
    case 'none':
      return null;
    case 'rules':
      return { mode: 'rules', grants: grantsOf(policy.rules, false), ledPorts: ledPorts.map(checkedPort) };
    case 'learn':
      return {
        mode: 'rules',
        grants: learningGrants(policy),
        ledPorts: ledPorts.map(checkedPort),
        learns: true,
      };
  }
}

/** Returns policies with every kind of statement, to be tried on a kernel. */
export function samplePolicies(): AddressPolicies {
  const rules = ['tcp://1.1.1.1:22', 'icmp://1.1.1.1'].flatMap((text) => parseRule('rules', text).rules);
  const grants = grantsOf(rules, false);
  const learning = learningGrants({ mode: 'learn', open: true, rules: [], until: Date.now() });
  return new Map([[addressOf(1), { mode: 'rules', grants: [...grants, ...learning], ledPorts: [443] }]]);
}

/**
 * While all is open, TCP still goes to the egress program, which sees names. QUIC shows none, and falls back to TCP where it is
 * refused. The kernel ends it in time, whoever else is there.
 */
function learningGrants({ open, rules, until }: LearningPolicy): Grant[] {
  if (!open) return grantsOf(rules, true);
  const seconds = Math.ceil(until / 1_000);
  return [
    { kind: 'timed', protocol: 'icmp', until: seconds },
    { kind: 'timed', protocol: 'udp', until: seconds },
  ];
}
