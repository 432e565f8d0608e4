/** Names of others are asked for over sockets of their own: what is answered, what is no answer, and when it ends. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { askServers } from '../../src/outbound/exit.ts';
import { type NameServer, startNameServer, type Zone } from './name-server.ts';

const zones: Record<string, Zone> = {
  'both.example': { a: ['203.0.113.7', '203.0.113.8'], aaaa: ['2606:4700:0:0:0:0:0:1111'] },
  'four.example': { a: ['203.0.113.7'] },
  'six.example': { aaaa: ['2606:4700:0:0:0:0:0:1111'] },
  'alias.example': { alias: 'four.example', a: ['10.1.2.3'] },
  'empty.example': {},
  'broken.example': { code: 2 },
  'refused.example': { code: 5 },
};

let server: NameServer;
beforeAll(async () => {
  server = await startNameServer((name) => (name.startsWith('silent') ? undefined : (zones[name] ?? null)));
});
afterAll(() => server.close());

const ask = (name: string, signal?: AbortSignal) => askServers(name, signal, [server.at]);

describe('the addresses of a name', () => {
  it.each([
    ['both.example', ['203.0.113.7', '203.0.113.8', '2606:4700::1111']],
    ['four.example', ['203.0.113.7']],
    ['six.example', ['2606:4700::1111']],
    ['alias.example', ['10.1.2.3']],
    ['four.example.', ['203.0.113.7']],
  ])('of %s are those of both families', async (name, addresses) => {
    const found = await ask(name);
    expect(found.map(({ address }) => address)).toEqual(addresses);
    expect(found.map(({ family }) => family)).toEqual(
      addresses.map((address) => (address.includes(':') ? 6 : 4)),
    );
  });

  it('are asked for as the name stands, without a search list and without the host’s own file', async () => {
    server.asked.length = 0;
    await expect(ask('single')).rejects.toMatchObject({ reason: 'unknown' });
    await expect(ask('localhost')).rejects.toMatchObject({ reason: 'unknown' });
    expect(new Set(server.asked)).toEqual(new Set(['single', 'localhost']));
  });
});

describe('a name without addresses', () => {
  it.each([
    ['missing.example', 'unknown', 'The host missing.example is not found.'],
    ['empty.example', 'unknown', 'The host empty.example is not found.'],
    [`${'a'.repeat(64)}.example`, 'unknown', /^The host a+\.example is not found\.$/],
    ['broken.example', 'failing', 'The name servers cannot find broken.example now.'],
    ['refused.example', 'failing', 'The name servers cannot find refused.example now.'],
  ])('%s is %s', async (name, reason, message) => {
    await expect(ask(name)).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  });

  it('is silent after 5 s where no name server answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const failed = vi.fn();
    const asking = ask('silent.example').catch(failed);
    await vi.advanceTimersByTimeAsync(4_999);
    await new Promise(setImmediate);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await asking;
    expect(failed.mock.calls).toMatchObject([
      [{ reason: 'silent', message: 'No name server answers for silent.example.' }],
    ]);
  });

  it('is given up with its caller, and leaves no question behind', async () => {
    const over = new AbortController();
    server.asked.length = 0;
    const ended = ask('silent-too.example', over.signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(server.asked).toHaveLength(2));
    over.abort(new Error('over'));
    expect(await ended).toEqual(new Error('over'));
    expect(process.getActiveResourcesInfo().filter((kind) => /^(?:GetAddrInfo|Query)/.test(kind))).toEqual(
      [],
    );
    await expect(ask('four.example', over.signal)).rejects.toThrow('over');
  });
});
