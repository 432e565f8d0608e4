/**
 * Intersection of two network policies: of a sandbox's own and a ceiling, or of two ceilings. Pairs of rules have one rule in
 * common, or none. A rule for a name and one for addresses have none, since no rule says both: the intersection allows less
 * then, and never more.
 */
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { coversHost } from './host-pattern.ts';
import type { NetworkPolicy, NetworkProtocol, NetworkRule } from './policy.ts';
import {
  type AddressRange,
  formatAddressRange,
  intersectRanges,
  parseAddressRange,
} from './public-addresses.ts';
import { withText } from './rule-text.ts';

/** A rule whose addresses are numbers. */
interface Prepared {
  rule: NetworkRule;
  range: AddressRange | null;
}

/** Throws `invalid_argument` naming the parameter above `limits.network.rulesInForce` rules. */
export function intersectPolicies(
  parameter: string,
  one: NetworkPolicy,
  other: NetworkPolicy,
): NetworkPolicy {
  if (one.mode === 'none' || other.mode === 'none') return { mode: 'none' };
  if (one.mode === 'open') return other;
  if (other.mode === 'open') return one;
  const found = new Map<string, NetworkRule>();
  const others = other.rules.map(prepared);
  for (const rule of one.rules.map(prepared)) {
    for (const another of others) {
      const common = intersectPrepared(rule, another);
      if (common) found.set(common.text, common);
      if (found.size > limits.network.rulesInForce) throw tooMany(parameter);
    }
  }
  return { mode: 'rules', rules: [...found.values()] };
}

/** Returns the rule of what both allow; null for nothing. */
export function intersectRules(one: NetworkRule, other: NetworkRule): NetworkRule | null {
  return intersectPrepared(prepared(one), prepared(other));
}

function intersectPrepared(
  { rule: one, range: oneRange }: Prepared,
  { rule: other, range: otherRange }: Prepared,
): NetworkRule | null {
  const protocol = commonProtocol(one.protocol, other.protocol);
  const ports = commonPorts(one.ports, other.ports);
  const methods = commonMethods(one.methods, other.methods);
  const path = commonPath(one.path, other.path);
  if (protocol === null || ports === undefined || methods === null || path === undefined) return null;
  const rest = { protocol, ports, methods, path };
  if (oneRange !== null && otherRange !== null) {
    const range = intersectRanges(oneRange, otherRange);
    return range && withText({ ...rest, host: null, address: formatAddressRange(range) });
  }
  if (one.host === null || other.host === null) return null;
  const host = commonHost(one.host, other.host);
  return host === null ? null : withText({ ...rest, host, address: null });
}

function prepared(rule: NetworkRule): Prepared {
  return { rule, range: rule.address === null ? null : parseAddressRange(rule.address) };
}

/** Everything of https and http is tcp. */
function commonProtocol(one: NetworkProtocol, other: NetworkProtocol): NetworkProtocol | null {
  if (one === other) return one;
  if (one === 'tcp' && isSite(other)) return other;
  return other === 'tcp' && isSite(one) ? one : null;
}

function isSite(protocol: NetworkProtocol): boolean {
  return protocol === 'https' || protocol === 'http';
}

function commonHost(one: string, other: string): string | null {
  if (coversHost(one, other)) return other;
  return coversHost(other, one) ? one : null;
}

/** undefined for none; null where the protocol has none. */
function commonPorts(
  one: NetworkRule['ports'],
  other: NetworkRule['ports'],
): [number, number] | null | undefined {
  if (one === null || other === null) return one === other ? null : undefined;
  const first = Math.max(one[0], other[0]);
  const last = Math.min(one[1], other[1]);
  return first <= last ? [first, last] : undefined;
}

/** null for none; an empty list stands for all. */
function commonMethods(one: string[], other: string[]): string[] | null {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const both = one.filter((method) => other.includes(method));
  return both.length > 0 ? both : null;
}

/** undefined for none; null stands for all. */
function commonPath(one: string | null, other: string | null): string | null | undefined {
  if (one === null || other === null) return one ?? other;
  if (isBelow(one, other)) return one;
  return isBelow(other, one) ? other : undefined;
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

function tooMany(parameter: string) {
  return invalidArgument(
    parameter,
    `What the network rules and the ceilings allow together takes over ${limits.network.rulesInForce} rules.`,
    'Give fewer rules, or an administrator writes the ceilings in fewer.',
  );
}
