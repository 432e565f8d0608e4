/** LearnNetwork: finds the network rules that one of the caller's sandboxes needs. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { timestamp } from '../../catalog/sandbox-view.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';

const { learnMinutes } = limits.network;

export const learnNetwork = defineAction({
  name: 'LearnNetwork',
  title: 'Learn the network rules of a sandbox',
  description:
    'For some minutes one of your sandboxes reaches all that your ceiling and that of the installation allow, and what it uses ' +
    'becomes rules. With stop it has what is set for it again, and the answer has the rules; they are kept for an hour. It ends by ' +
    'itself, by SetNetwork, AllowNetwork and DenyNetwork, and by a restart of the service. failed_precondition: the engine has ' +
    'no network policies, as on Kubernetes, or there is nothing to stop.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'network learn',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    minutes: z
      .int()
      .min(learnMinutes.min)
      .max(learnMinutes.max)
      .default(learnMinutes.default)
      .describe('From now on.'),
    stop: z.boolean().default(false).describe('End it.'),
  }),
  output: z.looseObject({
    sandbox: z.string(),
    learning_until: z.string().nullable().describe('null: it has ended.'),
    rules: z.array(z.string()).describe('Rules for exactly what was used so far.'),
    wider: z
      .array(z.looseObject({ rule: z.string(), replaces: z.array(z.string()) }))
      .describe(
        'Rules for all names below one that many names are of, and those of rules that they replace.',
      ),
    missing: z.int().describe('Events that were too many to be kept: rules may be missing.'),
  }),
  async handler({ sandbox: reference, minutes, stop }, { services, caller }) {
    const { learning } = services;
    const learned = stop
      ? await learning.stop(caller, reference)
      : await learning.start(caller, reference, minutes);
    const { sandboxId, until, rules, wider, missing } = learned;
    return {
      sandbox: sandboxId,
      learning_until: until === null ? null : timestamp(until),
      ...{ rules, wider: wider.map((one) => ({ ...one })), missing },
    };
  },
  rows({ learning_until: until, rules, wider }) {
    if (until !== null) return [{ learning_until: until, rules_so_far: rules.length }];
    const widerOf = (text: string) => wider.find(({ replaces }) => replaces.includes(text))?.rule ?? '';
    return rules.map((rule) => ({ rule, or: widerOf(rule) }));
  },
});
