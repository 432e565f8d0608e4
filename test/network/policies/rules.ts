/** Policies of tests, from rules as people write them. */
import type { NetworkPolicy } from '../../../src/model/network/policy.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';

export const open: NetworkPolicy = { mode: 'open' };
export const none: NetworkPolicy = { mode: 'none' };

export function rules(...texts: string[]): NetworkPolicy {
  return { mode: 'rules', rules: texts.flatMap((text) => parseRule('rules', text).rules) };
}
