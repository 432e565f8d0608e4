/**
 * Networks of sandboxes as Daytona's clients write them: a flag, a list of address ranges, a list of domains. A range allows
 * all protocols, which takes three rules. Any other rule stands among the domains as it is, and comes back as itself.
 */
import type { NetworkSetting } from '../../../model/sandbox.ts';

export interface NetworkLists {
  networkBlockAll: boolean;
  /** With commas between, like the other; absent where there are none. */
  networkAllowList?: string;
  domainAllowList?: string;
}

/** A list's rules by their origin. */
export interface SplitRules {
  ranges: string[];
  others: string[];
}

const EVERY_PORT = '1-65535';

/** Returns the rules of one address range, such as 203.0.113.0/24. */
export function rulesOfRange(range: string): string[] {
  return [`tcp://${range}`, `udp://${range}:${EVERY_PORT}`, `icmp://${range}`];
}

export function splitRules(allow: readonly string[]): SplitRules {
  const ranges = allow.flatMap((rule) => /^tcp:\/\/(\d[\d.]*(?:\/\d+)?)$/.exec(rule)?.[1] ?? []);
  const whole = ranges.filter((range) => rulesOfRange(range).every((rule) => allow.includes(rule)));
  const hidden = new Set(whole.flatMap(rulesOfRange));
  return { ranges: whole, others: allow.filter((rule) => !hidden.has(rule)) };
}

export function networkLists({ mode, profiles, allow }: NetworkSetting): NetworkLists {
  const { ranges, others } = splitRules(allow);
  return {
    networkBlockAll: mode === 'none' || (mode === 'rules' && profiles.length + allow.length === 0),
    ...(ranges.length > 0 ? { networkAllowList: ranges.map(asRange).join(',') } : {}),
    ...(others.length > 0 ? { domainAllowList: others.join(',') } : {}),
  };
}

/** A single address has a length in their lists, and none in rules. */
function asRange(range: string): string {
  return range.includes('/') ? range : `${range}/32`;
}
