/**
 * Networks of sandboxes as Daytona's clients ask for them and read them: a flag, a list of address ranges, a list of domains. A
 * range allows all protocols, which takes three rules. Any other rule stands among the domains as it is, and comes back as
 * itself.
 */
import { invalidArgument } from '../../../model/errors.ts';
import type { NetworkRequest } from '../../../model/network/setting.ts';
import type { NetworkSetting } from '../../../model/sandbox.ts';
import type { DaytonaCall } from '../base/call.ts';

interface NetworkLists {
  networkBlockAll: boolean;
  /** With commas between, like the other; absent where there are none. */
  networkAllowList?: string;
  domainAllowList?: string;
}

/** A list's rules by their origin. */
interface SplitRules {
  ranges: string[];
  others: string[];
}

type Body = DaytonaCall['body'];

/** Returns undefined where the creation asks for none: the sandbox then gets its owner's usual one. */
export function askedNetwork(body: Body): NetworkRequest | undefined {
  if (flagIn(body)) return 'none';
  const allow = [...(rangesIn(body) ?? []), ...(domainsIn(body) ?? [])];
  return allow.length > 0 ? { allow } : undefined;
}

/** A list that is left out stays as it is, and so do profiles; a block that was set ends by a list, or when it is taken back. */
export function changedNetwork(body: Body, present: NetworkSetting): NetworkRequest {
  const block = flagIn(body);
  if (block) return 'none';
  const { ranges, others } = splitRules(present.allow);
  const allow = [...(rangesIn(body) ?? ranges.flatMap(rulesOfRange)), ...(domainsIn(body) ?? others)];
  if (allow.length + present.profiles.length > 0) return { allow, profiles: present.profiles };
  return block === undefined && present.mode === 'none' ? 'none' : 'open';
}

export function networkLists({ mode, profiles, allow }: NetworkSetting): NetworkLists {
  const { ranges, others } = splitRules(allow);
  return {
    networkBlockAll: mode === 'none' || (mode === 'rules' && profiles.length + allow.length === 0),
    ...(ranges.length > 0 ? { networkAllowList: ranges.map(asRange).join(',') } : {}),
    ...(others.length > 0 ? { domainAllowList: others.join(',') } : {}),
  };
}

function flagIn({ networkBlockAll: flag }: Body): boolean | undefined {
  if (flag === undefined || flag === null) return undefined;
  if (typeof flag === 'boolean') return flag;
  throw invalidArgument('networkBlockAll', 'networkBlockAll must be true or false.');
}

function rangesIn(body: Body): string[] | undefined {
  return listIn(body, 'networkAllowList')?.flatMap(rulesOfRange);
}

function domainsIn(body: Body): string[] | undefined {
  return listIn(body, 'domainAllowList');
}

function listIn(body: Body, name: string): string[] | undefined {
  const text = body[name];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw invalidArgument(name, `${name} must be a text with commas between.`);
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

const EVERY_PORT = '1-65535';

/** Returns the rules of one address range, such as 203.0.113.0/24. */
export function rulesOfRange(range: string): string[] {
  return [`tcp://${range}`, `udp://${range}:${EVERY_PORT}`, `icmp://${range}`];
}

function splitRules(allow: readonly string[]): SplitRules {
  const ranges = allow.flatMap((rule) => /^tcp:\/\/(\d[\d.]*(?:\/\d+)?)$/.exec(rule)?.[1] ?? []);
  const whole = ranges.filter((range) => rulesOfRange(range).every((rule) => allow.includes(rule)));
  const hidden = new Set(whole.flatMap(rulesOfRange));
  return { ranges: whole, others: allow.filter((rule) => !hidden.has(rule)) };
}

/** A single address has a length in their lists, and none in rules. */
function asRange(range: string): string {
  return range.includes('/') ? range : `${range}/32`;
}
