/** Actions on what a sandbox reached and was refused. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import type { LoggedEvent, NetworkLogPage } from '../control/network/network-log.ts';
import { limits } from '../model/limits.ts';
import { networkEventKinds } from '../model/network/traffic.ts';
import { defineAction } from './action.ts';

/** View of events of a sandbox's network, for the log and for those who follow it. */
const eventOutput = z.looseObject({
  sequence: z.int(),
  time: z.string(),
  kind: z.enum(networkEventKinds).describe('tls, https, http and dns name a host; udp and icmp are packets.'),
  name: z.string().nullable(),
  address: z.string().nullable(),
  port: z.int().nullable(),
  allowed: z.boolean(),
  rule: z.string().nullable().describe('The rule that allowed it.'),
  secret: z.string().nullable().describe('Id of the secret that a request of kind https got.'),
  why: z
    .string()
    .nullable()
    .describe('The reason of a refusal, or of an end that the client did not choose.'),
  ended: z.boolean().describe('The end of an allowed connection, with its bytes.'),
  sent: z.int().describe('Bytes from the sandbox.'),
  received: z.int().describe('Bytes to the sandbox.'),
});

const networkLogOutput = z.looseObject({
  events: z.array(eventOutput),
  dropped: z.int().describe('Events between these that are not kept: there were too many at once.'),
});

type EventView = z.output<typeof eventOutput>;
export type NetworkLogView = z.output<typeof networkLogOutput>;

export function toNetworkLog({
  events,
  dropped,
}: Pick<NetworkLogPage, 'events' | 'dropped'>): NetworkLogView {
  return { events: events.map(toEventView), dropped };
}

function toEventView({ sandbox: _, at, ...event }: LoggedEvent): EventView {
  const { sequence, kind, name, address, port, allowed, rule, secret, why, ended, sent, received } = event;
  return {
    ...{ sequence, time: timestamp(at), kind, name, address, port, allowed, rule, secret, why },
    ...{ ended, sent, received },
  };
}

/** Returns an event as a row of a table. */
export function toLogRow(event: EventView): Record<string, unknown> {
  const { time, kind, name, address, port, allowed, rule, why, ended, sent, received } = event;
  const at = address === null ? '' : `${address}${port === null ? '' : `:${port}`}`;
  return {
    time: time.slice(11, 19),
    decision: allowed ? (ended ? 'ended' : 'allowed') : 'refused',
    kind,
    name: name ?? '',
    address: at,
    sent: ended ? sent : '',
    received: ended ? received : '',
    because: allowed && !ended ? (rule ?? '') : (why ?? rule ?? ''),
  };
}

const { eventsShown } = limits.network;

export const getNetworkLog = defineAction({
  name: 'GetNetworkLog',
  title: 'Get the network log of a sandbox',
  description:
    'Decisions about the network of one of your sandboxes while it has rules, oldest first: the newest, or those after a ' +
    'sequence. The service keeps the latest in memory alone, so a restart of it forgets them. failed_precondition: the ' +
    'engine has no network policies, as on Kubernetes.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network log',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    after: z.int().min(0).optional().describe('Only events after this sequence; the newest by default.'),
    limit: z
      .int()
      .min(1)
      .max(eventsShown.max)
      .default(eventsShown.default)
      .describe('Most events to return.'),
    refused: z.boolean().default(false).describe('Only what was refused.'),
  }),
  output: networkLogOutput.extend({
    next_after: z.int().describe('For the next call: events after these.'),
    has_more: z.boolean().describe('Further events are there, after next_after.'),
  }),
  async handler({ sandbox: reference, after, limit, refused }, { services, caller }) {
    const page = await services.networks.log(caller, reference, { after, limit, refused });
    return { ...toNetworkLog(page), next_after: page.next, has_more: page.hasMore };
  },
  rows: ({ events }) => events.map(toLogRow),
});

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
