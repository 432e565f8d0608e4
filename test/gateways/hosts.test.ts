/** RFC 9112 (3.2): a request of HTTP/1.1 without a host, or with several, is answered with 400. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LoneGateway, startLoneGateway } from './lone-gateway.ts';
import { sayRaw } from './visitor.ts';

let lone: LoneGateway;

beforeAll(async () => {
  lone = await startLoneGateway(1);
});

afterAll(() => lone.gateway.close());

it.each([
  ['two hosts', '1.1', ['preview', 'preview'], '400'],
  ['two hosts, of which the first is foreign', '1.1', ['evil.example', 'preview'], '400'],
  ['no host', '1.1', [], '400'],
  ['no host of an old client', '1.0', [], '421'],
])('%s', async (_what, version, named, status) => {
  const { host } = new URL(lone.site);
  const hosts = named.map((name) => `Host: ${name === 'preview' ? host : name}\r\n`).join('');
  for (const end of ['Connection: close', 'Connection: Upgrade\r\nUpgrade: shout']) {
    const answer = await sayRaw(lone.site, `GET / HTTP/${version}\r\n${hosts}${end}\r\n\r\n`);
    expect(answer.slice(9, 12), end).toBe(status);
  }
});
