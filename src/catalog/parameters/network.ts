/** Network and secrets of a sandbox. A network is `open`, `none`, or what rules and profiles allow. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';

const { rules, profiles, ruleChars } = limits.network;

/** The syntax of rules is the service's to check: its errors name the rule, and say what to write. */
export function network() {
  return z.union([z.enum(['open', 'none']), allowance()]);
}

/** `default` takes back what was set. */
export function networkOrDefault() {
  return z.union([z.enum(['open', 'none', 'default']), allowance()]);
}

export function networkWords() {
  return texts(rules).refine((words) => words.length > 0, 'must be at least 1 item long');
}

function allowance() {
  return z.strictObject({ allow: texts(rules).optional(), profiles: texts(profiles).optional() });
}

/** Bounds without keywords in the schema: the list that models get has no room for them. */
function texts(most: number) {
  const text = z
    .string()
    .refine(({ length }) => length <= ruleChars, `must be at most ${ruleChars} characters long`);
  return z.array(text).refine(({ length }) => length <= most, `must be at most ${most} items long`);
}

const { nameChars, perSandbox } = limits.secrets;

/** Secrets by name or id. */
export function secretReferences() {
  return z.array(z.string().min(1).max(nameChars)).max(perSandbox);
}
