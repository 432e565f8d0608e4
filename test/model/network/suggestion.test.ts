/** Rules for all names below one that are offered for many exact ones. */
import { describe, expect, it } from 'vitest';
import { widerRules } from '../../../src/model/network/suggestion.ts';

const hosts = (count: number, domain: string, protocol = 'https') =>
  Array.from({ length: count }, (_, at) => `${protocol}://n${at}.${domain}`);

describe('a rule for all names below one', () => {
  it('is offered from five names on', async () => {
    expect(await widerRules(hosts(4, 'example.com'))).toEqual([]);
    const five = hosts(5, 'example.com');
    expect(await widerRules(five)).toEqual([{ rule: 'https://*.example.com', replaces: five }]);
  });

  it('covers names at any depth, and not the domain itself', async () => {
    const names = [...hosts(3, 'example.co.uk'), ...hosts(2, 'a.b.example.co.uk')];
    expect(await widerRules([...names, 'https://example.co.uk'])).toEqual([
      { rule: 'https://*.example.co.uk', replaces: names },
    ]);
  });

  it('is of one protocol and port', async () => {
    const mixed = [
      ...hosts(3, 'example.com'),
      ...hosts(3, 'example.com:8443'),
      ...hosts(3, 'example.com', 'http'),
    ];
    expect(await widerRules(mixed)).toEqual([]);
    expect(await widerRules(hosts(5, 'example.com:8443', 'tcp'))).toMatchObject([
      { rule: 'tcp://*.example.com:8443' },
    ]);
  });

  it('is never one below a public suffix', async () => {
    const names = ['com', 'co.uk', 'github.io', 's3.amazonaws.com'].flatMap((suffix) => hosts(6, suffix));
    expect(await widerRules([...names, 'udp://203.0.113.7:53', 'https://203.0.113.7'])).toEqual([]);
  });
});
