/** The one way out for connections that others choose: addresses that are decided about, and shares of the lookups. */
import { describe, expect, it, vi } from 'vitest';
import { parseAllowedHosts } from '../../src/model/network/allowed-hosts.ts';
import type { Address } from '../../src/outbound/addresses.ts';
import { createExit } from '../../src/outbound/exit.ts';

const addressed = (...addresses: string[]): Address[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** Decides about a host whose name servers, or else the system, give these addresses. */
async function reach(url: string, allow: string, addresses: string[] = []): Promise<string[]> {
  const { hostname, port } = new URL(url);
  const exit = createExit({
    askServers: async () => addressed(...addresses),
    findNamed: async () => addressed('192.0.2.77'),
  });
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  const found = await exit.addresses(target, { allowed: parseAllowedHosts('test', allow), owner: 'alice' });
  return found.map(({ address }) => address);
}

describe('a host is not connected to without the operator', () => {
  it.each([
    ...['10.0.0.1', '127.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254'],
    ...['168.63.129.16', '0.0.0.0', '224.0.0.1', '[::1]', '[::]', '[::ffff:10.0.0.1]', '[fe80::1]'],
    ...['[fd00::1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '2130706433', '0x7f.1', 'localhost'],
    ...['localhost.', 'service.localhost'],
  ])('at %s', async (host) => {
    await expect(reach(`https://${host}/`, 'none')).rejects.toMatchObject({ reason: 'private' });
  });

  it.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1', 'fe80::1%eth0', '::ffff:127.0.0.1'])(
    'where its name leads to %s, alone or beside public addresses',
    async (address) => {
      for (const addresses of [
        [address],
        ['93.184.216.34', address],
        [address, '2606:4700::1111', '93.184.216.34'],
      ])
        await expect(reach('https://h.example/', 'none', addresses)).rejects.toMatchObject({
          ...{ reason: 'private', message: 'h.example has an address that is not public.' },
        });
    },
  );
});

describe('a host is connected to', () => {
  it.each([
    ['https://h.example/', 'none', ['93.184.216.34', '2606:4700::1111']],
    ['https://h.example/', '10.1.0.0/16', ['10.1.2.3', '93.184.216.34']],
    ['https://h.example/', '127.0.0.0/8,::1', ['127.0.0.1', '::1']],
  ])('%s with %s at all of its addresses %j', async (url, allow, addresses) => {
    expect(await reach(url, allow, addresses)).toEqual(addresses);
  });

  it.each([
    ['https://93.184.216.34/', 'none', ['93.184.216.34']],
    ['https://[2606:4700::1111]/', 'none', ['2606:4700::1111']],
    ['https://10.1.2.3/', '10.1.0.0/16', ['10.1.2.3']],
    ['https://localhost/', '127.0.0.0/8,::1/128', ['127.0.0.1', '::1']],
  ])('%s with %s without a lookup', async (url, allow, addresses) => {
    expect(await reach(url, allow, ['10.9.9.9'])).toEqual(addresses);
  });

  it.each([
    ['https://h.internal/', 'h.internal'],
    ['https://h.internal:8443/', 'h.internal:8443'],
    ['https://h.internal/', 'other,h.internal:443'],
    ['https://localhost/', 'localhost'],
  ])('%s where the operator has named it (%s), as the system finds it', async (url, allow) => {
    expect(await reach(url, allow, ['10.9.9.9'])).toEqual(['192.0.2.77']);
  });

  it.each([
    ['https://h.internal/', 'h.internal:8443'],
    ['https://h.internal/', 'internal'],
    ['https://h.internal./', 'h.internal'],
    ['https://h.internal/', '10.2.0.0/16'],
  ])('%s not with %s', async (url, allow) => {
    await expect(reach(url, allow, ['10.1.2.3'])).rejects.toMatchObject({ reason: 'private' });
  });
});

describe('lookups of names', () => {
  /** An exit whose names never answer but those of `quick.example`. */
  function stuck() {
    const ask = vi.fn((host: string, signal?: AbortSignal) =>
      host === 'quick.example'
        ? Promise.resolve(addressed('93.184.216.34'))
        : new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    );
    const exit = createExit({ askServers: ask });
    const over = new AbortController();
    const find = (host: string, owner: string) =>
      exit.addresses({ host, port: 443 }, { allowed: [], owner, signal: over.signal });
    return { ask, find, over };
  }

  it('[LIMIT] are four of one owner at once: names that never answer hold up nobody else', async () => {
    const { ask, find, over } = stuck();
    const held = Array.from({ length: 6 }, (_, at) => find(`n${at}.example`, 'mallory'));
    const waiting = find('quick.example', 'mallory');
    const ended = Promise.allSettled([...held, waiting]);
    expect(await find('quick.example', 'alice')).toEqual(addressed('93.184.216.34'));
    expect(ask).toHaveBeenCalledTimes(5);
    over.abort(new Error('over'));
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    expect(ask).toHaveBeenCalledTimes(5);
  });

  it('[LIMIT] are 128 of all owners at once', async () => {
    const { ask, find, over } = stuck();
    const held = Array.from({ length: 132 }, (_, at) => find(`n${at}.example`, `owner ${at % 33}`));
    await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(128));
    over.abort();
    await Promise.allSettled(held);
    expect(ask).toHaveBeenCalledTimes(128);
  });

  it('[LIMIT] may wait: 64 of one owner, and the next is refused', async () => {
    const { find, over } = stuck();
    const held = Array.from({ length: 68 }, (_, at) => find(`n${at}.example`, 'mallory'));
    await expect(find('quick.example', 'mallory')).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: '4 names of hosts are being looked up for you; your share is 4.',
    });
    over.abort();
    await Promise.allSettled(held);
  });

  it('leave their places whether they succeed or fail', async () => {
    const exit = createExit({
      askServers: async (host) => {
        if (host === 'bad.example') throw new Error('bad');
        return addressed('93.184.216.34');
      },
    });
    for (let turn = 0; turn < 10; turn++) {
      const find = (host: string) => exit.addresses({ host, port: 443 }, { allowed: [], owner: 'alice' });
      await find('good.example');
      await expect(find('bad.example')).rejects.toThrow('bad');
    }
  });
});
