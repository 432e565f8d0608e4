/** Policies as text for nftables, and the lines of the egress program. */
import { describe, expect, it } from 'vitest';
import type { NetworkEvent } from '../../../src/model/network/event.ts';
import type { NetworkRule } from '../../../src/model/network/policy.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';
import type { SecretUse } from '../../../src/model/secrets/use.ts';
import { readLines } from '../../../src/runtime/oci/network/egress/lines.ts';
import { parseAnswer } from '../../../src/runtime/oci/network/egress/messages.ts';
import {
  type AddressPolicy,
  addressPolicyOf,
} from '../../../src/runtime/oci/network/policy/address-policy.ts';
import { renderChange } from '../../../src/runtime/oci/network/policy/elements.ts';
import { ledPortsOf } from '../../../src/runtime/oci/network/policy/machine-secrets.ts';

const ruled = (...texts: string[]) =>
  addressPolicyOf({ mode: 'rules', rules: texts.flatMap((text) => parseRule('rules', text).rules) });
const open = addressPolicyOf({ mode: 'open' });
/** Address of the slot 4. */
const address = '10.213.0.5';
const change = (before: AddressPolicy | null, after: AddressPolicy | null) =>
  renderChange({ table: 't', address, before, after }).trimEnd().split('\n');

describe('the firewall’s part of a policy', () => {
  it('is a statement for each protocol and range of ports, of all their addresses', () => {
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
        'meta l4proto tcp ct original ip daddr { 203.0.113.0/24, 203.0.113.9/32 } ct original proto-dst 22-22 accept',
        'meta l4proto udp ct original ip daddr { 203.0.113.7/32 } ct original proto-dst 53-54 accept',
        'meta l4proto icmp ct original ip daddr { 203.0.113.7/32 } accept',
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

describe('ports of secrets', () => {
  const led = (...ports: number[]) => addressPolicyOf({ mode: 'open' }, ports);

  it('are elements beside the address’s mode', () => {
    expect(change(null, led(443, 8443))).toEqual([
      'add element inet t open_to { 10.213.0.5 }',
      'add element inet t led { 10.213.0.5 . 443 }',
      'add element inet t led { 10.213.0.5 . 8443 }',
    ]);
    expect(change(led(443), led(8443))).toEqual([
      'delete element inet t led { 10.213.0.5 . 443 }',
      'add element inet t led { 10.213.0.5 . 8443 }',
    ]);
    expect(change(led(443), ruled('https://example.com'))).toEqual([
      'delete element inet t open_to { 10.213.0.5 }',
      'add element inet t ruled { 10.213.0.5 }',
      'delete element inet t led { 10.213.0.5 . 443 }',
    ]);
    expect(change(led(443), led(443))).toEqual(['']);
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
  const grant = (port: number) =>
    `add rule inet t grant_4 meta l4proto udp ct original ip daddr { 203.0.113.7/32 } ct original proto-dst ${port}-${port} accept`;

  it('that is none costs nothing', () => {
    expect(change(open, open)).toEqual(['']);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('udp://203.0.113.7:1'))).toEqual(['']);
    expect(change(null, null)).toEqual(['']);
  });

  it('between modes moves the address', () => {
    expect(change(null, open)).toEqual(['add element inet t open_to { 10.213.0.5 }']);
    expect(change(open, null)).toEqual(['delete element inet t open_to { 10.213.0.5 }']);
    expect(change(open, ruled('https://example.com'))).toEqual([
      'delete element inet t open_to { 10.213.0.5 }',
      'add element inet t ruled { 10.213.0.5 }',
    ]);
  });

  it('of grants makes, changes and removes their chain', () => {
    expect(change(null, ruled('udp://203.0.113.7:1'))).toEqual([
      'add element inet t ruled { 10.213.0.5 }',
      'add chain inet t grant_4',
      grant(1),
      'add element inet t granted { 10.213.0.5 : jump grant_4 }',
    ]);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('udp://203.0.113.7:2'))).toEqual([
      'flush chain inet t grant_4',
      grant(2),
    ]);
    expect(change(ruled('udp://203.0.113.7:1'), ruled('https://example.com'))).toEqual([
      'delete element inet t granted { 10.213.0.5 }',
      'flush chain inet t grant_4',
      'delete chain inet t grant_4',
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
