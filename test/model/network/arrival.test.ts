import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createArrivals, parseNetworks } from '../../../src/model/network/arrival.ts';

const proxies = createArrivals(parseNetworks('--trusted-proxy', '10.0.0.0/8,::1,fd00::/8'));

function arrival(remoteAddress: string, headers: Record<string, string> = {}, encrypted = false) {
  const socket = encrypted ? { remoteAddress, encrypted } : { remoteAddress };
  return proxies({ socket, headers: { host: 'own:1', ...headers } } as unknown as Parameters<
    typeof proxies
  >[0]);
}

const said = {
  'x-forwarded-for': '6.6.6.6',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'sandhaven.example.com',
};

describe('the origin of a request', () => {
  it('is its connection, with any headers, unless a proxy of ours sends it', () => {
    const direct = { client: '192.0.2.1', protocol: 'http', host: 'own:1' };
    expect(arrival('192.0.2.1', said)).toEqual(direct);
    expect(arrival('::ffff:192.0.2.1', said)).toEqual(direct);
    expect(arrival('fe80::1', said)).toMatchObject({ client: 'fe80::1' });
    expect(arrival('192.0.2.1', {}, true)).toMatchObject({ protocol: 'https' });
    expect(arrival('', said)).toMatchObject({ client: '', protocol: 'http' });
  });

  it('is the one that a proxy of ours names', () => {
    const through = { client: '6.6.6.6', protocol: 'https', host: 'sandhaven.example.com' };
    for (const proxy of ['10.1.2.3', '::ffff:10.1.2.3', '::1', 'fd00::5'])
      expect(arrival(proxy, said)).toEqual(through);
    expect(arrival('10.1.2.3')).toEqual({ client: '10.1.2.3', protocol: 'http', host: 'own:1' });
    expect(arrival('10.1.2.3', { 'x-forwarded-proto': 'http' }, true)).toMatchObject({ protocol: 'http' });
  });

  it('is followed back through proxies of ours, and no further', () => {
    const client = (chain: string) => arrival('10.0.0.1', { 'x-forwarded-for': chain }).client;
    expect(client('1.1.1.1, 6.6.6.6, 10.0.0.2')).toBe('6.6.6.6');
    expect(client('10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
    expect(client('6.6.6.6:1234')).toBe('6.6.6.6');
    expect(client('[2001:db8::1]:1234')).toBe('2001:db8::1');
    expect(client('6.6.6.6, unknown')).toBe('10.0.0.1');
    expect(client('6.6.6.6, unknown, 10.0.0.2')).toBe('10.0.0.2');
    expect(client(Array(100).fill('10.0.0.2').join(','))).toBe('10.0.0.2');
  });

  it('is the nearest value of a header with several', () => {
    const forged = { 'x-forwarded-host': 'evil.example, good.example', 'x-forwarded-proto': 'https,http' };
    expect(arrival('10.0.0.1', forged)).toMatchObject({ host: 'good.example', protocol: 'http' });
    expect(arrival('10.0.0.1', { 'x-forwarded-proto': 'gopher' })).toMatchObject({ protocol: 'http' });
  });

  it('never is a value that a client put before the address that our proxy adds', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (forged, address) => {
        fc.pre(!address.startsWith('10.'));
        expect(arrival('10.0.0.1', { 'x-forwarded-for': `${forged}, ${address}` }).client).toBe(address);
      }),
    );
  });
});

describe('trusted proxies', () => {
  const parse = (text: string) => parseNetworks('--trusted-proxy', text);

  it('are 64 at most', () => {
    const networks = (count: number) => Array.from({ length: count }, (_, at) => `10.0.${at}.0/24`).join(',');
    expect(parse(networks(64))).toHaveLength(64);
    expect(() => parse(networks(65))).toThrow('--trusted-proxy takes at most 64 networks.');
  });

  it.each([
    ['none', []],
    [' none ', []],
    ['10.0.0.1', [{ network: '10.0.0.1', prefix: 32, family: 'ipv4' }]],
    [
      '10.0.0.0/16, ::1',
      [
        { network: '10.0.0.0', prefix: 16, family: 'ipv4' },
        { network: '::1', prefix: 128, family: 'ipv6' },
      ],
    ],
    ['fd00::/128', [{ network: 'fd00::', prefix: 128, family: 'ipv6' }]],
    ['10.0.0.0/32', [{ network: '10.0.0.0', prefix: 32, family: 'ipv4' }]],
  ])('are in %j: %j', (text, networks) => {
    expect(parse(text)).toEqual(networks);
  });

  it.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8x',
    'x10.0.0.0',
    '10.0.0.1,',
    'proxy.example',
    '10.0.0.0/',
  ])('are not in %j', (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: expect.objectContaining({ parameter: '--trusted-proxy' }),
      }),
    );
  });

  it('add the address and the port of a client, and nothing else counts as one', () => {
    const client = (entry: string) => arrival('10.0.0.1', { 'x-forwarded-for': entry }).client;
    expect(client('198.51.100.70:1234')).toBe('198.51.100.70');
    expect(client('[2001:db8::1]')).toBe('2001:db8::1');
    for (const entry of ['6.6.6.6:12x', 'x6.6.6.6:12', '[6.6.6.6', ' , ', '']) {
      expect(client(entry), entry).toBe('10.0.0.1');
    }
    expect(client('6.6.6.6, ,')).toBe('6.6.6.6');
  });
});
