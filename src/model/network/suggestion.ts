/** Network rules that would allow what was used. */
import { registrableDomain } from './host-pattern.ts';
import type { NetworkProtocol } from './policy.ts';
import { parseRule } from './rule-text.ts';
import type { NetworkEvent } from './traffic.ts';

/** A rule for all names below one, in place of several exact ones. */
export interface WiderRule {
  rule: string;
  replaces: string[];
}

/** So many names below one make all names below it worth a rule. */
const MANY_NAMES = 5;
const DEFAULT = 'rules';
const protocols: Partial<Record<NetworkEvent['kind'], NetworkProtocol>> = {
  ...{ tls: 'https', http: 'http', tcp: 'tcp', udp: 'udp', icmp: 'icmp' },
};

/** Returns the rule for exactly what an event used, by its name where it has one; null where no rule is needed. */
export function ruleFor({ kind, name, address, port, allowed }: NetworkEvent): string | null {
  const protocol = protocols[kind];
  if (!allowed || protocol === undefined) return null;
  const takesName = protocol !== 'udp' && protocol !== 'icmp';
  const end = protocol === 'icmp' ? '' : `:${port}`;
  const targets = [takesName ? name : null, address].filter((target) => target !== null);
  for (const target of targets) {
    const text = canonical(`${protocol}://${target}${end}`);
    if (text !== null) return text;
  }
  return null;
}

/** Offers rules for all names below a domain that has many of them, never below a public suffix. */
export async function widerRules(texts: readonly string[]): Promise<WiderRule[]> {
  const groups = new Map<string, string[]>();
  for (const text of texts) {
    const [rule] = parseRule(DEFAULT, text).rules;
    const domain = rule?.host && (await registrableDomain(rule.host));
    if (!rule?.ports || !domain || domain === rule.host) continue;
    const wider = canonical(`${rule.protocol}://*.${domain}:${rule.ports.join('-')}`);
    if (wider !== null) groups.set(wider, [...(groups.get(wider) ?? []), text]);
  }
  return [...groups]
    .filter(([, replaces]) => replaces.length >= MANY_NAMES)
    .map(([rule, replaces]) => ({ rule, replaces }));
}

function canonical(text: string): string | null {
  try {
    return parseRule(DEFAULT, text).text;
  } catch {
    return null;
  }
}
