/** View of events of a sandbox's network, for the log and for those who follow it. */
import { z } from 'zod';
import { timestamp } from '../../catalog/sandbox-view.ts';
import type { LoggedEvent, NetworkLogPage } from '../../control/network/network-log.ts';
import { networkEventKinds } from '../../model/network/event.ts';

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

export const networkLogOutput = z.looseObject({
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
