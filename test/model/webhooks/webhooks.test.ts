/** Pure rules of webhooks: signatures, pauses between attempts, receivers that may be. */
import { describe, expect, it } from 'vitest';
import { parseAllowedHosts } from '../../../src/model/network/allowed-hosts.ts';
import {
  newWebhookSecret,
  pauseAfter,
  retryAfterMs,
  signedHeaders,
} from '../../../src/model/webhooks/attempts.ts';
import { isOrderly, parseReceiver } from '../../../src/model/webhooks/receiver.ts';

describe('a signature', () => {
  it('is the one of the example of Standard Webhooks', () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(signedHeaders(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('is there once for each secret, with a space between', () => {
    const two = signedHeaders({ id: 'a', timestamp: 1, body: '' }, ['whsec_AAAA', 'whsec_BBBB']);
    expect(two['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('has a secret of 256 bits, drawn anew', () => {
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newWebhookSecret()).not.toBe(newWebhookSecret());
  });
});

describe('the pause after a failure', () => {
  it('grows from five seconds to six hours, a fifth more or less by chance', () => {
    const middle = [1, 2, 3, 4, 5, 6, 7, 8, 60].map((attempts) => pauseAfter(attempts, 0.5, null) / 1_000);
    expect(middle).toEqual([5, 20, 80, 320, 1_280, 5_120, 20_480, 21_600, 21_600]);
    expect(pauseAfter(1, 0, null)).toBe(4_000);
    expect(pauseAfter(1, 1, null)).toBe(6_000);
    expect(pauseAfter(60, 1, null)).toBe(21_600_000);
  });

  it('is what the receiver asks for, when that is longer, up to six hours', () => {
    expect(pauseAfter(1, 0.5, 60_000)).toBe(60_000);
    expect(pauseAfter(1, 0.5, 1_000)).toBe(5_000);
    expect(pauseAfter(1, 0.5, 1e12)).toBe(21_600_000);
  });

  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', null],
    ['0', null],
    ['-5', null],
    ['soon', null],
    ['', null],
    [null, null],
  ])('reads Retry-After %j as %j', (header, expected) => {
    expect(retryAfterMs(header, 1_000)).toBe(expected);
  });
});

describe('a receiver', () => {
  const allowed = parseAllowedHosts(
    '--webhook-allow',
    'hooks.internal:9000,chat.internal,10.1.0.0/16,fd00::/8',
  );

  it.each([
    'https://example.org/hooks?a=b',
    'https://example.org:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'http://hooks.internal:9000/x',
    'http://chat.internal/',
    'https://chat.internal:1234/',
    'http://10.1.2.3:8080/',
    'http://[fd00::1]/',
  ])('may be %s', (url) => {
    expect(parseReceiver(url, allowed)).toBe(url);
  });

  it.each([
    ['not a url', 'url must be an https URL.'],
    ['ftp://example.org/', 'url must be an https URL.'],
    ['http://example.org/', 'url must begin with https://.'],
    ['http://hooks.internal:9001/', 'url must begin with https://.'],
    ['https://user@example.org/', 'url must not hold credentials.'],
    ['https://:secret@example.org/', 'url must not hold credentials.'],
    ['https://example.org/#part', 'url must not have a fragment.'],
    ['https://example.org/#', 'url must not have a fragment.'],
    ['https://example.org:22/', 'url must have port 443 or 8443.'],
    ['https://127.0.0.1/', 'url must have a public address.'],
    ['https://2130706433/', 'url must have a public address.'],
    ['https://0x7f.1/', 'url must have a public address.'],
    ['https://10.2.0.1/', 'url must have a public address.'],
    ['https://169.254.169.254/', 'url must have a public address.'],
    ['https://[::1]/', 'url must have a public address.'],
    ['https://[::ffff:127.0.0.1]/', 'url must have a public address.'],
    ['https://[64:ff9b::7f00:1]/', 'url must have a public address.'],
    ['https://[fe80::1]/', 'url must have a public address.'],
    ['https://[fc00::1]/', 'url must have a public address.'],
  ])('may not be %s', (url, message) => {
    const parse = () => parseReceiver(url, allowed);
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  it('has 2,048 characters at most', () => {
    const url = (length: number) => 'https://example.org/'.padEnd(length, 'a');
    expect(parseReceiver(url(2_048), [])).toHaveLength(2_048);
    expect(() => parseReceiver(url(2_049), [])).toThrow('url has 2049 characters; at most 2048 fit.');
  });

  it.each([
    ['https://example.org/', true],
    ['https://example.org:8443/', true],
    ['http://example.org/', false],
    ['https://example.org:22/', false],
    ['http://chat.internal/', true],
    ['http://hooks.internal:9001/', false],
    ['http://10.1.2.3:8080/', true],
    ['http://10.2.0.1/', false],
  ])('%s has a scheme and a port for it, also when it is connected to: %j', (url, expected) => {
    expect(isOrderly(new URL(url), allowed)).toBe(expected);
  });
});
