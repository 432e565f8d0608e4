/** The network of a sandbox as people write it, which is kept; its compiled form follows at each use. */
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import type { NetworkSetting } from '../sandbox.ts';
import type { NetworkPolicy, NetworkRule } from './policy.ts';
import { networkProfileNames, networkProfiles } from './profiles.ts';
import { parseRule } from './rule-text.ts';

export const networkModes = ['open', 'none', 'rules'] as const satisfies NetworkSetting['mode'][];

/** A setting with what its own rules mean, so that who takes it from a request parses them once. */
export interface ParsedNetwork {
  setting: NetworkSetting;
  /** Of `allow`, in its order; without those of profiles. */
  rules: NetworkRule[];
}

/** A change of the network as a caller asks for it. */
export type NetworkRequest =
  | 'open'
  | 'none'
  | { allow?: string[] | undefined; profiles?: string[] | undefined };

export const openNetwork: NetworkSetting = { mode: 'open', profiles: [], allow: [] };
export const noNetwork: NetworkSetting = { mode: 'none', profiles: [], allow: [] };

/** Networks that an admin has set for an owner in place of the installation's; null: the installation's alone. */
export interface OwnerNetworks {
  /** Of the owner's sandboxes whose creation asks for none. */
  usual: NetworkSetting | null;
  /** The most that the owner's sandboxes reach, within the installation's ceiling. */
  most: NetworkSetting | null;
}

export const installationNetworks: OwnerNetworks = { usual: null, most: null };

/** Throws `invalid_argument` naming the parameter. Says nothing about public suffixes: see `assertNoPublicSuffix`. */
export function parseNetwork(parameter: string, request: NetworkRequest): ParsedNetwork {
  if (request === 'open') return { setting: openNetwork, rules: [] };
  if (request === 'none') return { setting: noNetwork, rules: [] };
  const { allow = [], profiles = [] } = request;
  const parsed = allow.map((text) => parseRule(`${parameter}.allow`, text));
  const setting = assertBounds(parameter, {
    mode: 'rules',
    profiles: profiles.map((name) => parseProfile(`${parameter}.profiles`, name)),
    allow: parsed.map(({ text }) => text),
  });
  return { setting, rules: parsed.flatMap(({ rules }) => rules) };
}

/** Parses the rules of a kept setting. A text that this version does not know, as of a later one, allows nothing. */
export function parsedOf(setting: NetworkSetting): ParsedNetwork {
  return { setting, rules: setting.allow.flatMap(rulesOf) };
}

/**
 * Parses `open`, `none`, or names of profiles and rules with commas between. Throws `invalid_argument` naming the
 * parameter.
 */
export function parseNetworkText(parameter: string, text: string): NetworkSetting {
  const trimmed = text.trim();
  if (trimmed === 'open' || trimmed === 'none') return parseNetwork(parameter, trimmed).setting;
  const words = wordsOf(trimmed);
  if (words.length > 0) return withWords(parameter, { mode: 'rules', profiles: [], allow: [] }, words);
  throw invalidArgument(
    parameter,
    `${parameter} must be open, none, or profiles and rules with commas between.`,
    `For example packages,https://api.example.com; profiles are ${networkProfileNames.join(', ')}.`,
  );
}

/** Adds names of profiles and rules. Throws `invalid_argument` naming the parameter. */
export function withWords(
  parameter: string,
  { profiles, allow }: NetworkSetting,
  words: readonly string[],
): NetworkSetting {
  const named = words.filter(isProfile);
  const rules = words.filter((word) => !isProfile(word)).map((word) => parseRule(parameter, word).text);
  return assertBounds(parameter, {
    mode: 'rules',
    profiles: [...profiles, ...named],
    allow: [...allow, ...rules],
  });
}

/** Removes names of profiles and rules. Throws `invalid_argument` naming the parameter for one that is not there. */
export function withoutWords(
  parameter: string,
  { profiles, allow }: NetworkSetting,
  words: readonly string[],
): NetworkSetting {
  const gone = new Set(words.map((word) => (isProfile(word) ? word : parseRule(parameter, word).text)));
  const missing = [...gone].find((word) => !profiles.includes(word) && !allow.includes(word));
  if (missing !== undefined) {
    throw invalidArgument(
      parameter,
      `The network of the sandbox has no rule or profile '${missing}'.`,
      'GetNetwork shows those that it has; remove each in the form in which it is shown.',
    );
  }
  const left = (word: string) => !gone.has(word);
  return { mode: 'rules', profiles: profiles.filter(left), allow: allow.filter(left) };
}

export function policyOf({ setting: { mode, profiles }, rules }: ParsedNetwork): NetworkPolicy {
  if (mode !== 'rules') return { mode };
  const ofProfiles = profiles.filter(isProfile).flatMap((name) => networkProfiles[name].rules);
  const all = [...ofProfiles.flatMap(rulesOf), ...rules];
  return { mode, rules: [...new Map(all.map((rule) => [rule.text, rule])).values()] };
}

/** Returns the hosts that rules name, for the check of public suffixes. */
export function hostsOf({ rules }: ParsedNetwork): string[] {
  return rules.flatMap(({ host }) => host ?? []);
}

export function isSameNetwork(one: NetworkSetting, other: NetworkSetting): boolean {
  const texts = ({ mode, profiles, allow }: NetworkSetting) => JSON.stringify([mode, profiles, allow]);
  return texts(one) === texts(other);
}

function rulesOf(text: string): NetworkRule[] {
  try {
    return parseRule('allow', text).rules;
  } catch {
    return [];
  }
}

function isProfile(word: string): word is (typeof networkProfileNames)[number] {
  return (networkProfileNames as readonly string[]).includes(word);
}

function parseProfile(parameter: string, name: string): string {
  if (isProfile(name)) return name;
  throw invalidArgument(
    parameter,
    `There is no network profile '${name}'.`,
    `The profiles are ${networkProfileNames.join(', ')}; ListNetworkProfiles shows their rules.`,
  );
}

/** Each profile and each rule once, in their order. */
function assertBounds(parameter: string, { mode, profiles, allow }: NetworkSetting): NetworkSetting {
  const once = { mode, profiles: [...new Set(profiles)], allow: [...new Set(allow)] };
  if (once.allow.length <= limits.network.rules) return once;
  throw invalidArgument(
    parameter,
    `A sandbox has at most ${limits.network.rules} network rules, and these are ${once.allow.length}.`,
    'Allow all names below one by *.example.com, or a range of addresses.',
  );
}

/** Splits at commas, other than those between the methods of a rule. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let methods = '';
  for (const piece of text.split(',').map((part) => part.trim())) {
    const isMethod = /^[A-Za-z]+$/.test(piece) && !isProfile(piece);
    if (isMethod) methods += `${piece},`;
    else if (piece !== '') words.push(methods + piece);
    if (!isMethod) methods = '';
  }
  return methods === '' ? words : [...words, methods.slice(0, -1)];
}
