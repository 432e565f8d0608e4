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

describe('where a request comes from', () => {
  it('is its connection, whatever somebody says who is no proxy of ours', () => {
    const direct = { client: '192.0.2.1', protocol: 'http', host: 'own:1' };
    expect(arrival('192.0.2.1', said)).toEqual(direct);
    expect(arrival('::ffff:192.0.2.1', said)).toEqual(direct);
    expect(arrival('fe80::1', said)).toMatchObject({ client: 'fe80::1' });
    expect(arrival('192.0.2.1', {}, true)).toMatchObject({ protocol: 'https' });
    expect(arrival('', said)).toMatchObject({ client: '', protocol: 'http' });
  });

  it('is what a proxy of ours says', () => {
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

  it('is by the nearest word where there are several', () => {
    const forged = { 'x-forwarded-host': 'evil.example, good.example', 'x-forwarded-proto': 'https,http' };
    expect(arrival('10.0.0.1', forged)).toMatchObject({ host: 'good.example', protocol: 'http' });
    expect(arrival('10.0.0.1', { 'x-forwarded-proto': 'gopher' })).toMatchObject({ protocol: 'http' });
  });

  it('never is what a client put before the address that our proxy adds', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (forged, address) => {
        fc.pre(!address.startsWith('10.'));
        expect(arrival('10.0.0.1', { 'x-forwarded-for': `${forged}, ${address}` }).client).toBe(address);
      }),
    );
  });
});
