/**
 * Messages between the service and the egress program: lines of JSON. The program reads what sandboxes and strangers send,
 * so its own lines are checked like theirs.
 */
import { isIPv4 } from 'node:net';
import type { NetworkRule } from '../../../../model/network/policy.ts';
import {
  type NetworkEventKind,
  type NetworkReport,
  networkEventKinds,
} from '../../../../model/network/traffic.ts';
import type { SecretUse } from '../../../../model/secrets/use.ts';
import type { Authority } from './authority.ts';

/** Policy of the machine with this address. */
export interface EgressPolicy {
  address: string;
  sandbox: string;
  owner: string;
  rules: NetworkRule[];
  /** true: what no rule admits passes too, and is reported. */
  open?: boolean;
  /** Their values come here and nowhere else. */
  secrets?: readonly SecretUse[];
  /** Answers clients of the secrets' hosts; present with secrets alone. */
  authority?: Authority;
}

export type EgressCommand = { set: EgressPolicy } | { drop: { address: string } } | { resolvers: string[] };

export interface EgressPorts {
  gate: number;
  dns: number;
}

export type EgressAnswer =
  | { kind: 'ready'; ports: EgressPorts }
  | { kind: 'done'; id: number }
  | { kind: 'failed'; id: number; why: string }
  | { kind: 'events'; events: NetworkReport[] };

const kinds: readonly string[] = networkEventKinds;
const longestText = 1_024;
/** Of a batch, with one count of dropped events for each sandbox in it. */
const mostEvents = 2_000;

/** Ignores events of another form. Throws Error for any other line that is none of the program's. */
export function parseAnswer(line: string): EgressAnswer {
  const fields = asObject(JSON.parse(line));
  if ('ready' in fields) {
    const { gate, dns } = asObject(fields['ready']);
    return { kind: 'ready', ports: { gate: asPort(gate), dns: asPort(dns) } };
  }
  if ('done' in fields) return { kind: 'done', id: asCount(fields['done']) };
  if ('failed' in fields) {
    return { kind: 'failed', id: asCount(fields['failed']), why: asText(fields['why']) ?? '' };
  }
  if (!Array.isArray(fields['events'])) throw new Error('no message of the egress program');
  return { kind: 'events', events: fields['events'].slice(0, mostEvents).flatMap(parseEvent) };
}

function parseEvent(value: unknown): NetworkReport[] {
  try {
    const event = asObject(value);
    if ('dropped' in event) return parseDropped(event);
    const [sandbox, kind, address] = [event['sandbox'], event['kind'], asText(event['address'])].map(asText);
    if (typeof sandbox !== 'string' || typeof kind !== 'string' || !kinds.includes(kind)) return [];
    if (typeof address === 'string' && !isIPv4(address)) return [];
    return [
      {
        at: asCount(event['at']),
        sandbox,
        kind: kind as NetworkEventKind,
        name: asText(event['name']),
        address: address ?? null,
        port: event['port'] == null ? null : asPort(event['port']),
        rule: asText(event['rule']),
        secret: asText(event['secret']),
        allowed: event['allowed'] === true,
        why: asText(event['why']),
        sent: asCount(event['sent'] ?? 0),
        received: asCount(event['received'] ?? 0),
        ended: event['ended'] === true,
      },
    ];
  } catch {
    return [];
  }
}

function parseDropped({ sandbox, dropped }: Record<string, unknown>): NetworkReport[] {
  return typeof sandbox === 'string' ? [{ sandbox, dropped: asCount(dropped) }] : [];
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Error('no object');
}

function asCount(value: unknown): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new Error('no count');
}

function asPort(value: unknown): number {
  const port = asCount(value);
  if (port <= 65_535) return port;
  throw new Error('no port');
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, longestText) : null;
}
