/** Fields of the form of a sandbox's network. */
import type { NetworkSetting } from '../../service/records.ts';

export interface NetworkFields {
  mode: NetworkSetting['mode'];
  profiles: string[];
  /** One a line. */
  rules: string;
}

export function networkFieldsOf({ mode, profiles, allow }: NetworkSetting): NetworkFields {
  return { mode, profiles, rules: allow.join('\n') };
}

/** Returns the network as SetNetwork takes it. */
export function networkOf({ mode, profiles, rules }: NetworkFields) {
  return mode === 'rules' ? { profiles, allow: linesOf(rules) } : mode;
}

/** The order of profiles, empty lines and spaces around a rule are no change. */
export function isSameNetwork(one: NetworkFields, other: NetworkFields): boolean {
  return canonical(one) === canonical(other);
}

function canonical(fields: NetworkFields): string {
  const network = networkOf(fields);
  if (typeof network === 'string') return network;
  return JSON.stringify([network.profiles.toSorted(), network.allow]);
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
