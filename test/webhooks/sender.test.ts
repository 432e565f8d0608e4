/** Requests to receivers, and addresses that none goes to: real sockets, names resolved by the test. */

import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseAllowedHosts } from '../../src/model/network/allowed-hosts.ts';
import type { Address } from '../../src/outbound/addresses.ts';
import { createExit } from '../../src/outbound/exit.ts';
import { createWebhookSender } from '../../src/webhooks/sender.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.got.length = 0;
  receiver.answer = (_, response) => response.writeHead(204).end();
});

const send = (
  url: string,
  { allow = 'none', addresses, ca = receiver.ca }: { allow?: string; addresses?: string[]; ca?: string } = {},
) => {
  const resolve = async () =>
    (addresses ?? []).map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 }));
  const sender = createWebhookSender({
    ...{ allowed: parseAllowedHosts('--webhook-allow', allow), ca },
    exit: createExit(addresses ? { askServers: resolve } : {}),
  });
  const signal = new AbortController().signal;
  return sender.send({ url, headers: { 'webhook-id': 'msg_1' }, body: '{"a":"é"}', owner: 'alice', signal });
};
const toReceiver = () => send(receiver.url, { allow: 'localhost' });

describe('a request', () => {
  it('has the body and the headers that were given, and no more of the service than its name', async () => {
    expect(await toReceiver()).toEqual({ status: 204, retryAfter: null });
    expect(receiver.got).toEqual([
      {
        path: '/hooks',
        body: '{"a":"é"}',
        headers: {
          ...{ 'content-length': '10', 'content-type': 'application/json', connection: 'close' },
          ...{
            host: `localhost:${receiver.port}`,
            'user-agent': 'sandhaven-webhooks',
            'webhook-id': 'msg_1',
          },
        },
      },
    ]);
  });

  it('is not sent where a redirect leads', async () => {
    receiver.answer = (_, response) => response.writeHead(307, { location: '/other' }).end();
    expect(await toReceiver()).toEqual({ status: 307, retryAfter: null });
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hooks']);
  });

  it('goes to no proxy of the environment', async () => {
    const code = `
      import { createWebhookSender } from ${JSON.stringify(new URL('../../src/webhooks/sender.ts', import.meta.url))};
      import { createExit } from ${JSON.stringify(new URL('../../src/outbound/exit.ts', import.meta.url))};
      const allowed = [{ host: 'localhost', port: null }];
      const { signal } = new AbortController();
      const sender = createWebhookSender({ exit: createExit(), allowed, ca: process.env.CA });
      const request = { url: process.env.RECEIVER, headers: {}, body: '', owner: 'alice', signal };
      console.log(JSON.stringify(await sender.send(request)));`;
    const proxy = {
      NODE_USE_ENV_PROXY: '1',
      https_proxy: 'http://127.0.0.1:1',
      HTTPS_PROXY: 'http://127.0.0.1:1',
    };
    const program = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      env: { ...proxy, CA: receiver.ca, RECEIVER: receiver.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void program.kill('SIGKILL'));
    expect(JSON.parse(await text(program.stdout))).toEqual({ status: 204, retryAfter: null });
  });

  it('ends with the status, however much of an answer follows', async () => {
    receiver.answer = (_, response) => {
      response.writeHead(503, { 'retry-after': '7' });
      const flood = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(flood)).on('error', () => {});
    };
    expect(await toReceiver()).toEqual({ status: 503, retryAfter: '7' });
  });

  it('fails without a trusted certificate, in words that name no address', async () => {
    const other = await startReceiver();
    onTestFinished(() => other.close());
    expect(await send(receiver.url, { allow: 'localhost', ca: other.ca })).toEqual({
      error: 'the certificate is not trusted',
    });
    expect(receiver.got).toEqual([]);
  });

  it('fails where nobody listens, or what listens speaks no HTTP', async () => {
    const mute = createServer((socket) => socket.resume().end('what?')).listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as AddressInfo;
    expect(await send(`http://127.0.0.1:${port}/`, { allow: '127.0.0.1' })).toEqual({ error: 'no answer' });
    await new Promise((resolve) => mute.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`, { allow: '127.0.0.1' })).toEqual({ error: 'refused' });
  });

  it('ends after ten seconds without an answer', async () => {
    receiver.answer = () => {};
    const begun = performance.now();
    expect(await toReceiver()).toEqual({ error: 'no answer' });
    expect(performance.now() - begun).toBeGreaterThan(9_900);
  });
});

describe('an address', () => {
  const url = 'https://receiver.example:8443/';

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '0.0.0.0',
    '224.0.0.1',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fe80::1',
    'fd00::1',
  ])('%s is not connected to, whatever name leads there', async (address) => {
    expect(await send(url, { addresses: [address] })).toEqual({ error: 'refused' });
    expect(await send(url, { addresses: ['93.184.216.34', address] })).toEqual({ error: 'refused' });
  });

  it('is the one that was checked: the name is not resolved again', async () => {
    let asked = 0;
    const sender = createWebhookSender({
      ...{ allowed: parseAllowedHosts('--webhook-allow', `localhost:${receiver.port}`), ca: receiver.ca },
      exit: createExit({
        findNamed: async () => {
          asked += 1;
          return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
        },
      }),
    });
    const signal = new AbortController().signal;
    const answer = await sender.send({ url: receiver.url, headers: {}, body: '', owner: 'alice', signal });
    expect({ answer, asked }).toEqual({ answer: { status: 204, retryAfter: null }, asked: 1 });
  });

  it('that a name does not have is no answer', async () => {
    expect(await send('https://receiver.invalid/')).toEqual({ error: 'no answer' });
  });
});
