/** Policies as grants and as messages for the kernel, and the lines of the egress program. */
import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/model/network/policy.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';
import type { NetworkEvent } from '../../../src/model/network/traffic.ts';
import type { SecretUse } from '../../../src/model/secrets/use.ts';
import { readLines } from '../../../src/runtime/oci/network/egress/conversation.ts';
import { parseAnswer } from '../../../src/runtime/oci/network/egress/messages.ts';
import { type Message, types } from '../../../src/runtime/oci/network/netlink/message.ts';
import { ledPortsOf } from '../../../src/runtime/oci/network/policies.ts';
import {
  type AddressPolicy,
  addressPolicyOf,
} from '../../../src/runtime/oci/network/policy/address-policy.ts';
import { changeMessages, messagesBefore } from '../../../src/runtime/oci/network/policy/change.ts';
import { apart, type Place } from '../../../src/runtime/oci/network/policy/grants.ts';
import { processorMsOf } from '../../support/processor-time.ts';

const ruled = (...texts: string[]) =>
  addressPolicyOf({ mode: 'rules', rules: texts.flatMap((text) => parseRule('rules', text).rules) });
const open = addressPolicyOf({ mode: 'open' });
/** Address of the slot 4. */
const address = '10.213.0.5';
/**
 * Messages of a change: what each does, and to what, as the text in it. Those before a comma are a transaction of their own, and sets
 * of grants have a number here, in the order of their appearance.
 */
const change = (before: AddressPolicy | null, after: AddressPolicy | null) => {
  const sets: string[] = [];
  const said = ({ type, body }: Message) => {
    const [kind] = Object.entries(types).find(([, number]) => number === type) ?? [];
    const [, name = ''] = /^.{4}t\0\0\0.\0.\0([\w-]+)\0/s.exec(body.toString('latin1')) ?? [];
    const [, places] = /^grant_4_([\w-]{18})$/.exec(name) ?? [];
    if (places && !sets.includes(places)) sets.push(places);
    return `${kind} ${places ? `grant_4_${sets.indexOf(places)}` : name}`;
  };
  const parts = { table: 't', address, before, after };
  const first = messagesBefore(parts).map(said);
  return [...first, ...(first.length > 0 ? [','] : []), ...changeMessages(parts).map(said)];
};
/** Key of an element of sets of addresses, and of addresses with ports. */
const elements = (before: AddressPolicy | null, after: AddressPolicy | null) =>
  changeMessages({ table: 't', address, before, after }).map(({ body }) => {
    const at = body.indexOf(Buffer.from([10, 213, 0, 5]));
    return body.subarray(at).toString('hex');
  });

const place = (first: number, prefix: number, ports: Place['ports']): Place => ({
  range: { first, prefix },
  ports,
});

describe('the firewall’s part of a policy', () => {
  it('is a grant for each protocol, with places that do not overlap', () => {
    expect(
      ruled(
        'tcp://203.0.113.9:22',
        'tcp://203.0.113.0/24:22',
        'udp://203.0.113.7:53-54',
        'icmp://203.0.113.7',
      ),
    ).toEqual({
      mode: 'rules',
      grants: [
        { kind: 'places', protocol: 'tcp', places: [place(0xcb007100, 24, [22, 22])], noted: false },
        { kind: 'places', protocol: 'udp', places: [place(0xcb007107, 32, [53, 54])], noted: false },
        { kind: 'places', protocol: 'icmp', places: [place(0xcb007107, 32, null)], noted: false },
      ],
      ledPorts: [],
    });
  });

  it('is nothing for names, and for http and https, which the egress program decides', () => {
    expect(ruled('https://203.0.113.7', 'http://203.0.113.7', 'tcp://git.example.com:22')).toEqual({
      mode: 'rules',
      grants: [],
      ledPorts: [],
    });
  });

  it('is null for none', () => {
    expect(addressPolicyOf({ mode: 'none' })).toBeNull();
  });

  it.each([
    ['address', '203.0.113.0/24 } accept; add table inet x #'],
    ['address', '203.0.113.7'],
    ['ports', [1, Number.NaN]],
    ['ports', ['1', '2']],
  ])('refuses a rule whose %s is %j', (field, value) => {
    const [rule] = parseRule('rules', 'tcp://203.0.113.7:22').rules;
    const forged = { ...rule, [field]: value } as NetworkRule;
    expect(() => addressPolicyOf({ mode: 'rules', rules: [forged] })).toThrow('not a');
  });
});

describe('places that overlap', () => {
  const wide = place(0xcb007100, 24, [10, 20]);

  it('are in different parts, and one within another in none', () => {
    const across = place(0xcb007109, 32, [15, 25]);
    const within = place(0xcb007109, 32, [12, 12]);
    const beside = place(0xcb007109, 32, [21, 30]);
    const elsewhere = place(0xcb007209, 32, [15, 25]);
    expect(apart([within, across, wide, elsewhere])).toEqual([[wide, elsewhere], [across]]);
    expect(apart([beside, wide])).toEqual([[wide, beside]]);
    expect(apart([wide, wide])).toEqual([[wide]]);
  });

  it('take a bounded time, as many as a sandbox may have', () => {
    const all = Array.from({ length: 1_000 }, (_, i) => place(0xcb007100, 24, [i + 1, 2_000 + i]));
    const ms = processorMsOf(() => expect(apart(all)).toHaveLength(1_000));
    expect(ms).toBeLessThan(1_000);
  });
});

describe('ports of secrets', () => {
  const led = (...ports: number[]) => addressPolicyOf({ mode: 'open' }, ports);

  it('are elements beside the address’s mode', () => {
    expect(change(null, led(443, 8443))).toEqual(['newElement open_to', 'newElement led']);
    expect(change(led(443), led(8443))).toEqual(['deleteElement led', 'newElement led']);
    expect(elements(led(443), led(8443))).toEqual(['0ad5000501bb0000', '0ad5000520fb0000']);
    expect(change(led(443), ruled('https://example.com'))).toEqual([
      'deleteElement open_to',
      'newElement ruled',
      'deleteElement led',
    ]);
    expect(change(led(443), led(443))).toEqual([]);
  });

  it('are each there once, in order', () => {
    const target = (port: number) => ({ host: 'api.example.com', port, methods: [], path: null });
    const targetsAt = (...ports: number[]) => ({ targets: ports.map(target) });
    const uses = [targetsAt(8443, 443), targetsAt(443, 80)] as unknown as SecretUse[];
    expect(ledPortsOf({ uses, authority: { subject: 's', key: 'k' } })).toEqual([80, 443, 8443]);
    expect(ledPortsOf(null)).toEqual([]);
  });

  it('are refused where they are none', () => {
    expect(() => addressPolicyOf({ mode: 'open' }, ['443 }' as unknown as number])).toThrow('not a port');
  });
});

describe('a change', () => {
  it('that is none costs nothing', () => {
    expect(change(open, open)).toEqual([]);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('udp://203.0.113.7:1'))).toEqual([]);
    expect(change(null, null)).toEqual([]);
  });

  it('between modes moves the address', () => {
    expect(change(null, open)).toEqual(['newElement open_to']);
    expect(elements(null, open)).toEqual(['0ad50005']);
    expect(change(open, null)).toEqual(['deleteElement open_to']);
    expect(change(open, ruled('https://example.com'))).toEqual(['deleteElement open_to', 'newElement ruled']);
  });

  it('of grants makes, changes and removes their chain', () => {
    expect(change(null, ruled('udp://203.0.113.7:1'))).toEqual([
      'newSet grant_4_0',
      'newElement grant_4_0',
      ',',
      'newElement ruled',
      'newChain grant_4',
      'newRule grant_4',
      'newElement granted',
    ]);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('udp://203.0.113.7:2'))).toEqual([
      'newSet grant_4_0',
      'newElement grant_4_0',
      ',',
      'deleteRule grant_4',
      'deleteSet grant_4_1',
      'newRule grant_4',
    ]);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('udp://203.0.113.7:1', 'tcp://203.0.113.7:1'))).toEqual(
      [
        'newSet grant_4_0',
        'newElement grant_4_0',
        ',',
        'deleteRule grant_4',
        'newRule grant_4',
        'newRule grant_4',
      ],
    );
    expect(change(ruled('udp://203.0.113.7:1'), ruled('https://example.com'))).toEqual([
      'deleteElement granted',
      'deleteRule grant_4',
      'deleteSet grant_4_0',
      'deleteChain grant_4',
    ]);
  });
});

const event: NetworkEvent = {
  at: 1_764_217_000_123,
  sandbox: 'sb_0000000000000001',
  kind: 'tls',
  name: 'api.example.com',
  address: '203.0.113.7',
  port: 443,
  rule: 'https://api.example.com',
  secret: null,
  allowed: true,
  why: null,
  sent: 5,
  received: 7,
  ended: true,
};

describe('a line of the egress program', () => {
  it('is its ports, the end of a command, or events', () => {
    expect(parseAnswer('{"ready":{"gate":41234,"dns":41235}}')).toEqual({
      kind: 'ready',
      ports: { gate: 41_234, dns: 41_235 },
    });
    expect(parseAnswer('{"done":7}')).toEqual({ kind: 'done', id: 7 });
    expect(parseAnswer('{"failed":7,"why":"no rule"}')).toEqual({ kind: 'failed', id: 7, why: 'no rule' });
    expect(parseAnswer(JSON.stringify({ events: [event] }))).toEqual({ kind: 'events', events: [event] });
  });

  it.each(['', 'null', '[]', '{}', '{"done":-1}', '{"ready":{"gate":70000,"dns":1}}', '{"events":{}}'])(
    'is refused when it is %j',
    (line) => {
      expect(() => parseAnswer(line)).toThrow();
    },
  );

  it('has the secret of an https request', () => {
    const request = { ...event, kind: 'https', secret: 'se_0123456789abcdef' };
    expect(parseAnswer(JSON.stringify({ events: [request] }))).toEqual({ kind: 'events', events: [request] });
    const { secret: _, ...older } = event;
    expect(parseAnswer(JSON.stringify({ events: [older] }))).toEqual({ kind: 'events', events: [event] });
  });

  it.each([
    { at: 'now' },
    { sandbox: 7 },
    { kind: 'smtp' },
    { address: '::1' },
    { port: 70_000 },
    { sent: -1 },
  ])('loses an event with %j and keeps the others', (changed) => {
    const line = JSON.stringify({ events: [{ ...event, ...changed }, event, null, 'x'] });
    expect(parseAnswer(line)).toEqual({ kind: 'events', events: [event] });
  });

  it('counts events that were too many', () => {
    const line = JSON.stringify({
      events: [event, { sandbox: 'sb_1', dropped: 50 }, { sandbox: 7, dropped: 1 }],
    });
    expect(parseAnswer(line)).toEqual({ kind: 'events', events: [event, { sandbox: 'sb_1', dropped: 50 }] });
  });

  it('has 2,000 events at most, and short texts', () => {
    const many = { events: Array.from({ length: 2_001 }, () => ({ ...event, name: 'n'.repeat(5_000) })) };
    const answer = parseAnswer(JSON.stringify(many));
    expect(answer.kind === 'events' && answer.events.length).toBe(2_000);
    expect(answer).toMatchObject({ events: expect.arrayContaining([{ ...event, name: 'n'.repeat(1_024) }]) });
  });
});

describe('lines', () => {
  it('are whole however their bytes arrive', () => {
    const lines: string[] = [];
    const read = readLines(
      100,
      (line) => lines.push(line),
      () => lines.push('too long'),
    );
    for (const byte of Buffer.from('eins\nzwölf\n\n')) read(Buffer.from([byte]));
    read(Buffer.from('a\nb\nc'));
    expect(lines).toEqual(['eins', 'zwölf', '', 'a', 'b']);
  });

  it('over the bound end the reading', () => {
    const lines: string[] = [];
    const read = readLines(
      4,
      (line) => lines.push(line),
      () => lines.push('too long'),
    );
    for (const piece of ['1234\n', '123', '45\n', '6\n']) read(Buffer.from(piece));
    expect(lines).toEqual(['1234', 'too long']);
  });
});
