/** `--git-allow` and `--webhook-allow`: hosts, hosts with a port, and networks, besides public addresses. */
import { describe, expect, it } from 'vitest';
import { parseAllowedHosts, targetOf } from '../../../src/model/network/allowed-hosts.ts';

const parse = (text: string) => parseAllowedHosts('--git-allow', text);

describe('hosts that are allowed besides', () => {
  it.each([
    ['none', []],
    [' none ', []],
    ['', []],
    [' , ', []],
    ['Git.Internal', [{ host: 'git.internal', port: null }]],
    ['git.internal:8443', [{ host: 'git.internal', port: 8_443 }]],
    ['git.internal:65535', [{ host: 'git.internal', port: 65_535 }]],
    ['_git', [{ host: '_git', port: null }]],
    ['10.1.0.1:80', [{ host: '10.1.0.1', port: 80 }]],
    ['10.1.0.0/16', [{ network: '10.1.0.0', prefix: 16, family: 'ipv4' }]],
    ['10.1.0.1', [{ network: '10.1.0.1', prefix: 32, family: 'ipv4' }]],
    ['10.1.0.1/32', [{ network: '10.1.0.1', prefix: 32, family: 'ipv4' }]],
    ['::1', [{ network: '::1', prefix: 128, family: 'ipv6' }]],
    ['fd00::/8', [{ network: 'fd00::', prefix: 8, family: 'ipv6' }]],
    ['fd00::/128', [{ network: 'fd00::', prefix: 128, family: 'ipv6' }]],
    [
      'a , 127.0.0.0/8,b:1',
      [
        { host: 'a', port: null },
        { network: '127.0.0.0', prefix: 8, family: 'ipv4' },
        { host: 'b', port: 1 },
      ],
    ],
  ])('%j are %j', (text, remotes) => {
    expect(parse(text)).toEqual(remotes);
  });

  it.each([
    ...['10.1.0.0/33', 'fd00::/129', 'git.internal:65536', 'git.internal:', 'git.internal/8'],
    ...[
      '-a',
      '.a',
      'a b',
      'https://git.internal',
      'git.internal:x',
      'git.internal:123456',
      '10.0.0.0/',
      '10/8/8',
    ],
  ])('cannot be %j', (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringContaining(`'${text}' was given`),
        fields: expect.objectContaining({ parameter: '--git-allow' }),
      }),
    );
  });

  it('are at most 256', () => {
    expect(parse(Array(256).fill('a').join())).toHaveLength(256);
    expect(() => parse(Array(257).fill('a').join())).toThrow('at most 256');
  });
});

it.each([
  ['https://git.example.org', 'git.example.org', 443],
  ['http://git.example.org/api', 'git.example.org', 80],
  ['https://git.example.org:8443/x', 'git.example.org', 8_443],
  ['http://[::1]:9', '::1', 9],
])('%s leads to %s, port %i', (url, host, port) => {
  expect(targetOf(new URL(url))).toEqual({ host, port });
});
