/** The network of a sandbox as it is asked for, kept and compiled. */
import { describe, expect, it } from 'vitest';
import { assertNoPublicSuffix } from '../../../src/model/network/host-pattern.ts';
import { networkProfileNames, networkProfiles } from '../../../src/model/network/profiles.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';
import {
  hostsOf,
  type NetworkRequest,
  type ParsedNetwork,
  parsedOf,
  parseNetwork,
  parseNetworkText,
  policyOf,
  withoutWords,
  withWords,
} from '../../../src/model/network/setting.ts';

const rules = (profiles: string[], allow: string[]) => ({ mode: 'rules', profiles, allow });
const textsOf = (parsed: ParsedNetwork) => {
  const policy = policyOf(parsed);
  return policy.mode === 'rules' ? policy.rules.map(({ text }) => text) : policy.mode;
};

describe('a network that is asked for', () => {
  it.each<[NetworkRequest, object]>([
    ['open', { mode: 'open', profiles: [], allow: [] }],
    ['none', { mode: 'none', profiles: [], allow: [] }],
    [{}, rules([], [])],
    [
      { allow: ['Example.com', 'example.com.', 'HTTPS://a.example.com:443'] },
      rules([], ['example.com', 'https://a.example.com']),
    ],
    [{ profiles: ['git', 'git', 'llm'] }, rules(['git', 'llm'], [])],
  ])('%j is kept in canonical form, each rule once', (request, kept) => {
    expect(parseNetwork('network', request).setting).toEqual(kept);
  });

  it('has at most 100 rules', () => {
    const allow = Array.from({ length: 101 }, (_, at) => `https://a${at}.example.com`);
    expect(parseNetwork('network', { allow: allow.slice(0, 100) }).setting.allow).toHaveLength(100);
    expect(() => parseNetwork('network', { allow })).toThrow(/at most 100 network rules, and these are 101/);
  });

  it.each<[NetworkRequest, string]>([
    [{ allow: ['https://example.com', 'nonsense'] }, 'network.allow'],
    [{ profiles: ['packages', 'pakages'] }, 'network.profiles'],
  ])('%j is refused by the name of its part', (request, parameter) => {
    expect(() => parseNetwork('network', request)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', fields: expect.objectContaining({ parameter }) }),
    );
  });
});

describe('a network as one text', () => {
  it.each([
    [' open ', { mode: 'open', profiles: [], allow: [] }],
    ['none', { mode: 'none', profiles: [], allow: [] }],
    ['packages', rules(['packages'], [])],
    [' packages , https://api.example.com,git,', rules(['packages', 'git'], ['https://api.example.com'])],
    ['GET,HEAD http://a.example.com/x,llm', rules(['llm'], ['GET,HEAD http://a.example.com/x'])],
  ])('%j is read as %j', (text, setting) => {
    expect(parseNetworkText('--default-network', text)).toEqual(setting);
  });

  it.each(['', ' , ', 'open,none', 'everything', 'GET', 'packages,https://'])('%j is refused', (text) => {
    expect(() => parseNetworkText('--default-network', text)).toThrow(
      expect.objectContaining({ fields: expect.objectContaining({ parameter: '--default-network' }) }),
    );
  });
});

describe('a change of a network', () => {
  const { setting: present } = parseNetwork('network', { profiles: ['git'], allow: ['example.com'] });

  it('adds profiles and rules, each once', () => {
    expect(withWords('rules', present, ['packages', 'EXAMPLE.com', 'tcp://203.0.113.7:22'])).toEqual(
      rules(['git', 'packages'], ['example.com', 'tcp://203.0.113.7:22']),
    );
  });

  it('removes them in any form that means the same', () => {
    expect(withoutWords('rules', present, ['git', 'Example.com.'])).toEqual(rules([], []));
  });

  it.each(['packages', 'https://example.com', 'nonsense'])('removes no %s, which is not there', (word) => {
    expect(() => withoutWords('rules', present, [word])).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('a compiled network', () => {
  it('has the rules of its profiles before its own, each once', () => {
    const [first] = networkProfiles.git.rules;
    const parsed = parseNetwork('network', { profiles: ['git'], allow: ['example.com', String(first)] });
    expect(textsOf(parsed)).toEqual([
      ...networkProfiles.git.rules,
      'https://example.com',
      'http://example.com',
    ]);
  });

  it('of open and none has no rules', () => {
    expect(policyOf(parseNetwork('network', 'open'))).toEqual({ mode: 'open' });
    expect(policyOf(parseNetwork('network', 'none'))).toEqual({ mode: 'none' });
    expect(policyOf(parseNetwork('network', {}))).toEqual({ mode: 'rules', rules: [] });
  });

  it('allows nothing by what a later version wrote', () => {
    const kept = {
      mode: 'rules' as const,
      profiles: ['later'],
      allow: ['quic://example.com', 'example.com'],
    };
    expect(textsOf(parsedOf(kept))).toEqual(['https://example.com', 'http://example.com']);
  });

  it('is the same from a request as from what is kept of it', () => {
    const parsed = parseNetwork('network', {
      profiles: ['git'],
      allow: ['Example.com', 'example.com', '*.b.dev'],
    });
    expect(policyOf(parsed)).toEqual(policyOf(parsedOf(parsed.setting)));
  });

  it('names its hosts', () => {
    const parsed = parseNetwork('network', { allow: ['*.example.com', 'tcp://203.0.113.7:22'] });
    expect(hostsOf(parsed)).toEqual(['*.example.com', '*.example.com']);
  });
});

describe('a profile', () => {
  it.each(networkProfileNames)(
    '%s has rules in canonical form, each once, none over a public suffix',
    async (name) => {
      const texts = networkProfiles[name].rules;
      expect(texts.map((text) => parseRule('x', text).text)).toEqual(texts);
      expect(new Set(texts).size).toBe(texts.length);
      const hosts = texts.flatMap((text) => parseRule('x', text).rules.flatMap(({ host }) => host ?? []));
      await expect(assertNoPublicSuffix('x', hosts)).resolves.toBeUndefined();
    },
  );
});
