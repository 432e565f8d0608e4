/** Networks on the page: fields of the form, and events of the log. */
import { describe, expect, it } from 'vitest';
import { missingRule, withPiece, withShown } from '../../web/src/sandbox/network/log-events.ts';
import { isSameNetwork, networkFieldsOf, networkOf } from '../../web/src/sandbox/network/network-fields.ts';

const event = {
  ...{
    sequence: 1,
    time: '2026-01-01T00:00:00.000Z',
    kind: 'tls',
    name: 'api.example.com',
    address: '203.0.113.7',
  },
  ...{ port: 443, allowed: false, rule: null, why: 'no rule allows it', ended: false, sent: 0, received: 0 },
};

describe('the rule that is missing', () => {
  it.each([
    [{}, 'https://api.example.com'],
    [{ port: 8443 }, 'https://api.example.com:8443'],
    [{ name: null }, 'https://203.0.113.7'],
    [{ kind: 'http', port: 80 }, 'http://api.example.com'],
    [{ kind: 'http', port: 443 }, 'http://api.example.com:443'],
    [{ kind: 'dns', address: null, port: null }, 'api.example.com'],
    [{ kind: 'udp', name: null, port: 123 }, 'udp://203.0.113.7:123'],
    [{ kind: 'icmp', name: null, port: null }, 'icmp://203.0.113.7'],
    [
      { kind: 'tcp', name: null, port: 22, why: 'neither TLS nor HTTP, and no rule for tcp allows it' },
      'tcp://203.0.113.7:22',
    ],
  ])('of %j is %s', (difference, rule) => expect(missingRule({ ...event, ...difference })).toBe(rule));

  it.each([
    { allowed: true, why: null },
    { why: 'the address is not public' },
    { kind: 'tcp', address: null },
  ])('is none for %j', (difference) => expect(missingRule({ ...event, ...difference })).toBeNull());
});

describe('a log', () => {
  const at = (sequence: number, allowed = false) => ({ ...event, sequence, allowed });
  const sequences = (log: { events: { sequence: number }[] }) => log.events.map(({ sequence }) => sequence);

  it('takes each event once, and keeps the newest', () => {
    const log = { events: [at(1), at(2)], dropped: 3 };
    const piece = { events: [at(2), at(3), at(4, true)], dropped: 2 };
    const all = withPiece(log, piece, { refused: false, most: 3 });
    expect(sequences(all)).toEqual([2, 3, 4]);
    expect(all.dropped).toBe(5);
    expect(sequences(withPiece(log, piece, { refused: true, most: 10 }))).toEqual([1, 2, 3]);
  });

  it('keeps what came while an older answer was on its way', () => {
    const shown = { events: [at(2), at(3)], dropped: 7 };
    const bounds = { refused: false, most: 10 };
    expect(withShown({ events: [], dropped: 0 }, shown, bounds)).toEqual(shown);
    expect(sequences(withShown({ events: [at(1), at(2)], dropped: 0 }, shown, bounds))).toEqual([1, 2, 3]);
    expect(withShown(shown, undefined, bounds)).toBe(shown);
  });
});

describe('the form of a network', () => {
  const rules = {
    mode: 'rules' as const,
    profiles: ['git', 'llm'],
    allow: ['https://a.example', 'b.example'],
  };

  it('has one rule a line, without empty lines', () => {
    const fields = networkFieldsOf(rules);
    expect(fields.rules).toBe('https://a.example\nb.example');
    expect(networkOf({ ...fields, rules: ' https://a.example \n\n' })).toEqual({
      profiles: ['git', 'llm'],
      allow: ['https://a.example'],
    });
    expect(networkOf({ ...fields, mode: 'none' })).toBe('none');
  });

  it('is unchanged by spaces and by the order of profiles', () => {
    const before = networkFieldsOf(rules);
    const same = { ...before, profiles: ['llm', 'git'], rules: 'https://a.example\n\n b.example ' };
    expect(isSameNetwork(before, same)).toBe(true);
    expect(isSameNetwork(before, { ...before, profiles: ['git'] })).toBe(false);
    expect(isSameNetwork({ ...before, mode: 'open' }, { ...same, rules: '', mode: 'open' })).toBe(true);
  });
});
