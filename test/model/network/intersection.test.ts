/** What a sandbox's own network policy and the installation's ceiling allow together. */
import { describe, expect, it } from 'vitest';
import { intersectPolicies, intersectRules } from '../../../src/model/network/intersection.ts';
import type { NetworkPolicy, NetworkRule } from '../../../src/model/network/policy.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';
import { Dice } from '../../simulation/core/dice.ts';
import { allows, type Connection } from './allows.ts';

const rule = (text: string): NetworkRule => parseRule('x', text).rules[0] as NetworkRule;
const policy = (...texts: string[]): NetworkPolicy => ({
  mode: 'rules',
  rules: texts.flatMap((text) => parseRule('x', text).rules),
});

describe('two network rules', () => {
  it.each([
    ['https://a.example.com', 'https://a.example.com', 'https://a.example.com'],
    ['https://a.example.com', 'https://*.example.com', 'https://a.example.com'],
    ['https://*.b.example.com', 'https://*.example.com', 'https://*.b.example.com'],
    ['https://example.com', 'https://*.example.com', null],
    ['https://aexample.com', 'https://*.example.com', null],
    ['https://a.example.com', 'https://b.example.com', null],
    ['https://a.example.com:400-500', 'https://a.example.com:450-600', 'https://a.example.com:450-500'],
    ['https://a.example.com:400-500', 'https://a.example.com:443', 'https://a.example.com'],
    ['https://a.example.com', 'https://a.example.com:444', null],
    ['https://a.example.com', 'http://a.example.com', null],
    ['https://a.example.com', 'tcp://*.example.com:1-1000', 'https://a.example.com'],
    ['tcp://a.example.com:80-443', 'http://a.example.com', 'http://a.example.com'],
    ['tcp://a.example.com:22', 'tcp://*.example.com:20-25', 'tcp://a.example.com:22'],
    ['tcp://203.0.113.7', 'tcp://203.0.113.0/24:22', 'tcp://203.0.113.7:22'],
    ['tcp://203.0.113.0/25', 'tcp://203.0.113.128/25', null],
    ['tcp://203.0.113.7', 'udp://203.0.113.7:53', null],
    ['udp://203.0.113.0/24:53-60', 'udp://203.0.113.9:60-70', 'udp://203.0.113.9:60'],
    ['icmp://203.0.113.0/24', 'icmp://203.0.113.0/30', 'icmp://203.0.113.0/30'],
    ['icmp://203.0.113.7', 'tcp://203.0.113.7', null],
    ['https://203.0.113.0/24', 'tcp://203.0.113.0/28', 'https://203.0.113.0/28'],
    ['https://a.example.com', 'https://203.0.113.7', null],
    ['tcp://a.example.com:22', 'tcp://203.0.113.7', null],
    ['GET,PUT http://a.example.com', 'HEAD,GET http://a.example.com', 'GET http://a.example.com'],
    ['GET http://a.example.com', 'PUT http://a.example.com', null],
    ['http://a.example.com', 'PUT http://a.example.com', 'PUT http://a.example.com'],
    ['http://a.example.com/a', 'http://a.example.com/a/b', 'http://a.example.com/a/b'],
    ['http://a.example.com', 'http://a.example.com/a', 'http://a.example.com/a'],
    ['http://a.example.com/a', 'http://a.example.com/ab', null],
    ['http://203.0.113.7:80/24', 'http://203.0.113.0/24', 'http://203.0.113.7:80/24'],
  ])('%s and %s have %s in common, either way round', (one, other, common) => {
    expect(intersectRules(rule(one), rule(other))?.text ?? null).toBe(common);
    expect(intersectRules(rule(other), rule(one))?.text ?? null).toBe(common);
  });
});

describe('two network policies', () => {
  const own = policy('https://a.example.com', 'tcp://203.0.113.7:22');

  it('of which one is open are the other', () => {
    expect(intersectPolicies('x', own, { mode: 'open' })).toEqual(own);
    expect(intersectPolicies('x', { mode: 'open' }, own)).toEqual(own);
    expect(intersectPolicies('x', { mode: 'open' }, { mode: 'open' })).toEqual({ mode: 'open' });
  });

  it('of which one is none are none', () => {
    for (const other of [{ mode: 'none' }, { mode: 'open' }, own] as const) {
      expect(intersectPolicies('x', other, { mode: 'none' })).toEqual({ mode: 'none' });
      expect(intersectPolicies('x', { mode: 'none' }, other)).toEqual({ mode: 'none' });
    }
  });

  it('have each common rule once', () => {
    const ceiling = policy('https://*.example.com', '*.example.com', 'tcp://203.0.113.0/24');
    expect(intersectPolicies('x', own, ceiling)).toEqual(own);
  });

  it('have at most 1,000 rules in common', () => {
    const texts = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => `tcp://203.0.113.0/24:${from + 2 * at}-${from + 2 * at + 1}`);
    const all = policy('tcp://203.0.113.0/24');
    const thousand = intersectPolicies('x', policy(...texts(1, 1_000)), all);
    expect(thousand).toMatchObject({ mode: 'rules', rules: { length: 1_000 } });
    expect(() => intersectPolicies('x', policy(...texts(1, 1_001)), all)).toThrow(/over 1000 rules/);
  });
});

/** Few names, addresses, ports and paths, so that many of them meet. */
const HOSTS = ['a.example.com', 'b.example.com', 'c.a.example.com', '*.example.com', '*.a.example.com'];
const RANGES = ['203.0.113.0/24', '203.0.113.0/31', '203.0.113.1', '203.0.113.2'];
const PORTS = ['', ':80', ':443', ':80-443', ':400-500'];
const PATHS = ['', '/a', '/a/b', '/ab'];
const METHODS = ['', 'GET ', 'PUT ', 'GET,PUT '];

/** The resolver gives one address for each name. */
const NAMED: [string | null, string][] = [
  ['a.example.com', '203.0.113.0'],
  ['b.example.com', '203.0.113.1'],
  ['c.a.example.com', '203.0.113.2'],
  ['example.org', '203.0.113.3'],
  [null, '203.0.113.1'],
  [null, '203.0.114.0'],
];

const connections: Connection[] = NAMED.flatMap(([name, address]) =>
  [22, 80, 443, 450].flatMap((port): Connection[] => [
    { kind: 'tls', name, address, port },
    { kind: 'tcp', name, address, port },
    { kind: 'udp', name, address, port },
    { kind: 'icmp', name, address, port },
    ...['GET', 'PUT'].flatMap((method) =>
      ['/', '/a', '/a/b/c', '/ab'].map(
        (path): Connection => ({ kind: 'http', name, address, port, method, path }),
      ),
    ),
  ]),
);

describe('the intersection of random rules', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

  function randomRule(dice: Dice): NetworkRule {
    const protocol = dice.oneOf(['https', 'http', 'tcp', 'udp', 'icmp']);
    const addresses = protocol === 'udp' || protocol === 'icmp' || dice.chance(0.4);
    const target = dice.oneOf(addresses ? RANGES : HOSTS);
    if (protocol === 'icmp') return rule(`icmp://${target}`);
    const needsPort = protocol === 'udp' || protocol === 'tcp';
    const port = dice.oneOf(needsPort ? PORTS.slice(1) : PORTS);
    if (protocol !== 'http') return rule(`${protocol}://${target}${port}`);
    return rule(`${dice.oneOf(METHODS)}http://${target}${port || ':80'}${dice.oneOf(PATHS)}`);
  }

  it(`allows what both allow, by every connection tried (seed ${seed}, SEED repeats it)`, () => {
    const dice = new Dice(seed);
    let met = 0;
    for (let turn = 0; turn < 3_000; turn++) {
      const [one, other] = [randomRule(dice), randomRule(dice)];
      const common = intersectRules(one, other);
      const of = `${one.text} and ${other.text}: ${common?.text}`;
      if (common) expect(parseRule('x', common.text).rules, of).toEqual([common]);
      const sameTarget = (one.host === null) === (other.host === null);
      const wrong = connections.filter((connection) => {
        const both = allows(one, connection) && allows(other, connection);
        const allowed = common !== null && allows(common, connection);
        if (allowed) met += 1;
        // Only a name beside addresses may lose something; nothing is ever gained.
        return sameTarget ? allowed !== both : allowed && !both;
      });
      expect(wrong, of).toEqual([]);
    }
    expect(met).toBeGreaterThan(1_000);
  });
});
