/** Network rules as people write them: which are accepted and what they mean, and which are refused and why. */
import { describe, expect, it } from 'vitest';
import { assertNoPublicSuffix } from '../../../src/model/network/host-pattern.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';

const all = { host: null, address: null, ports: null, methods: [], path: null };

describe('a network rule', () => {
  it.each([
    ['https://api.example.com', { ...all, protocol: 'https', host: 'api.example.com', ports: [443, 443] }],
    ['https://*.example.com:8443', { ...all, protocol: 'https', host: '*.example.com', ports: [8443, 8443] }],
    ['https://203.0.113.0/24', { ...all, protocol: 'https', address: '203.0.113.0/24', ports: [443, 443] }],
    ['http://example.com', { ...all, protocol: 'http', host: 'example.com', ports: [80, 80] }],
    [
      'GET,HEAD http://example.com:8000-8100/files/a',
      {
        ...{ protocol: 'http', host: 'example.com', address: null, ports: [8000, 8100] },
        ...{ methods: ['GET', 'HEAD'], path: '/files/a' },
      },
    ],
    [
      'http://203.0.113.7:80/24',
      { ...all, protocol: 'http', address: '203.0.113.7/32', ports: [80, 80], path: '/24' },
    ],
    [
      'http://203.0.113.0/24:80/24',
      { ...all, protocol: 'http', address: '203.0.113.0/24', ports: [80, 80], path: '/24' },
    ],
    ['tcp://git.example.com:22', { ...all, protocol: 'tcp', host: 'git.example.com', ports: [22, 22] }],
    ['tcp://203.0.113.7', { ...all, protocol: 'tcp', address: '203.0.113.7/32', ports: [1, 65_535] }],
    ['tcp://203.0.113.7:5432', { ...all, protocol: 'tcp', address: '203.0.113.7/32', ports: [5432, 5432] }],
    ['udp://203.0.113.7:123', { ...all, protocol: 'udp', address: '203.0.113.7/32', ports: [123, 123] }],
    ['icmp://203.0.113.0/24', { ...all, protocol: 'icmp', address: '203.0.113.0/24' }],
    [
      'https://xn--bcher-kva.example',
      { ...all, protocol: 'https', host: 'xn--bcher-kva.example', ports: [443, 443] },
    ],
  ])('%s is canonical, and means this', (text, meaning) => {
    expect(parseRule('network', text)).toEqual({ text, rules: [{ text, ...meaning }] });
  });

  it.each([
    [' HTTPS://API.Example.COM. ', 'https://api.example.com'],
    ['https://example.com:443', 'https://example.com'],
    ['http://example.com:80/', 'http://example.com'],
    ['http://example.com/a/', 'http://example.com/a'],
    ['post,get,POST http://example.com', 'GET,POST http://example.com'],
    ['https://203.0.113.77/24', 'https://203.0.113.0/24'],
    ['https://203.0.113.7/32', 'https://203.0.113.7'],
    ['http://203.0.113.7/a', 'http://203.0.113.7:80/a'],
    ['http://203.0.113.7/32/24', 'http://203.0.113.7:80/24'],
    ['tcp://203.0.113.7:1-65535', 'tcp://203.0.113.7'],
    ['tcp://203.0.113.7:22-22', 'tcp://203.0.113.7:22'],
  ])('%j is kept as %s', (given, text) => {
    const parsed = parseRule('network', given);
    expect(parsed.text).toBe(text);
    expect(parseRule('network', text)).toEqual(parsed);
  });

  it('of a name alone means its sites by https and by http', () => {
    expect(parseRule('network', '*.Example.com')).toEqual({
      text: '*.example.com',
      rules: [
        {
          text: 'https://*.example.com',
          ...{ ...all, protocol: 'https', host: '*.example.com', ports: [443, 443] },
        },
        {
          text: 'http://*.example.com',
          ...{ ...all, protocol: 'http', host: '*.example.com', ports: [80, 80] },
        },
      ],
    });
  });

  it.each([
    ['', /no name of a host/],
    ['example', /no name of a host/],
    ['example.com:8080', /has no protocol/],
    ['example.com/path', /has no protocol/],
    ['203.0.113.7', /has no protocol/],
    ['203.0.113.0/24', /has no protocol/],
    ['GET example.com', /has no protocol/],
    ['ftp://example.com', /takes one of https, http, tcp, udp, icmp/],
    ['https://', /takes one of/],
    ['https://user@example.com', /no name of a host/],
    ['https://example', /no name of a host/],
    ['https://ex ample.com', /no name of a host/],
    ['https://exa\nmple.com', /no name of a host/],
    ['https://-a.example.com', /no name of a host/],
    ['https://a..example.com', /no name of a host/],
    ['https://a.*.example.com', /no name of a host/],
    ['https://*example.com', /no name of a host/],
    ['https://127.1', /no name of a host/],
    ['https://0x7f.0x1', /no name of a host/],
    ['https://203.0.113.256', /no name of a host/],
    ['https://203.0.113.07', /no name of a host/],
    ['https://203.0.113.0/33', /no name of a host/],
    [`https://${'a'.repeat(64)}.example.com`, /no name of a host/],
    [`https://${'a.'.repeat(125)}example.com`, /no name of a host/],
    ['https://bücher.example', /outside of ASCII/],
    ['https://[2001:db8::1]', /IPv6/],
    ['https://*', /every name/],
    ['*.com', /anyone may have one below com/],
    ['https://10.1.2.3', /no sandbox may reach/],
    ['tcp://0.0.0.0/0', /no sandbox may reach/],
    ['tcp://168.63.0.0/16', /no sandbox may reach/],
    ['udp://224.0.0.251:5353', /no sandbox may reach/],
    ['https://example.com:0', /needs a port/],
    ['https://example.com:65536', /needs a port/],
    ['https://example.com:90-80', /needs a port/],
    ['https://example.com:', /needs a port/],
    ['https://example.com:1-2-3', /needs a port/],
    ['tcp://example.com', /needs a port/],
    ['udp://203.0.113.7', /needs a port/],
    ['udp://example.com:53', /takes addresses alone/],
    ['icmp://example.com', /takes addresses alone/],
    ['icmp://203.0.113.7:1', /icmp has none/],
    ['GET https://example.com', /https shows none/],
    ['https://example.com/a', /https shows none/],
    ['tcp://203.0.113.7:22/a', /tcp shows none/],
    ['G(T http://example.com', /no method/],
    ['GET, http://example.com', /no method/],
    ['GET,CONNECT http://example.com', /CONNECT is refused/],
    ['http://example.com/a/../b', /cannot be a prefix/],
    ['http://example.com/./b', /cannot be a prefix/],
    ['http://example.com/a//b', /cannot be a prefix/],
    ['http://example.com/a%2fb', /cannot be a prefix/],
    ['http://example.com/a?b=c', /cannot be a prefix/],
    ['http://example.com/a#b', /cannot be a prefix/],
    ['http://example.com/a\\b', /cannot be a prefix/],
    ['http://example.com/a b', /cannot be a prefix/],
    ['http://example.com/a,b', /cannot be a prefix/],
    ['http://example.com/ä', /cannot be a prefix/],
    [`http://example.com/${'a'.repeat(300)}`, /at most 300 characters/],
  ])('%j is refused: %s', (text, detail) => {
    expect(() => parseRule('network.allow', text)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringMatching(detail),
        fields: expect.objectContaining({ parameter: 'network.allow' }),
      }),
    );
  });
});

describe('a rule for all names below one', () => {
  it.each(['*.co.uk', '*.github.io', '*.com', '*.kawasaki.jp', '*.foo.ck', '*.s3.amazonaws.com'])(
    '%s is refused: anybody may have such a name',
    async (host) => {
      await expect(assertNoPublicSuffix('network', ['example.com', host])).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(`'${host}'`),
      });
    },
  );

  it.each(['*.example.com', '*.example.co.uk', '*.me.github.io', '*.corp.unlisted', 'github.io'])(
    '%s is accepted',
    async (host) => {
      await expect(assertNoPublicSuffix('network', [host])).resolves.toBeUndefined();
    },
  );
});
