/** Targets of secrets: their written form, and what is refused. */
import { describe, expect, it } from 'vitest';
import {
  formatTarget,
  parseTarget,
  parseTargets,
  targetOutside,
} from '../../../src/model/secrets/target-text.ts';

const parsed = (text: string) => parseTarget('targets', text);

describe('a target', () => {
  it.each([
    ['https://api.example.com', { host: 'api.example.com', port: 443, methods: [], path: null }],
    ['HTTPS://API.Example.com.:8443/', { host: 'api.example.com', port: 8_443, methods: [], path: null }],
    [
      'post,GET https://*.example.com/v1/',
      { host: '*.example.com', port: 443, methods: ['GET', 'POST'], path: '/v1' },
    ],
  ])('%s is parsed', (text, target) => {
    expect(parsed(text)).toEqual(target);
    expect(parsed(formatTarget(target))).toEqual(target);
  });

  it.each([
    ['http://api.example.com', /requests go to https/],
    ['api.example.com', /requests go to https/],
    ['https://', /requests go to https/],
    ['https://user@api.example.com', /no host that a secret can be for/],
    ['https://203.0.113.7', /no host that a secret can be for/],
    ['https://[2001:db8::1]', /no host that a secret can be for|requests go to https/],
    ['https://0x7f.1', /no host that a secret can be for/],
    ['https://localhost', /no host that a secret can be for/],
    ['https://*', /no host that a secret can be for/],
    ['https://*.com', /no host that a secret can be for/],
    ['https://a.*.example.com', /no host that a secret can be for/],
    ['https://api.example.com:0', /requests go to https/],
    ['https://api.example.com:65536', /requests go to https/],
    ['https://api.example.com:1-9', /requests go to https/],
    ['CONNECT https://api.example.com', /CONNECT is refused/],
    ['https://api.example.com/a/../b', /no plain segment/],
    ['https://api.example.com/a%2fb', /no plain segment/],
    ['https://api.example.com\nhttps://evil.example', /no plain segment|no host|requests go to/],
    [`https://${'a'.repeat(300)}.example.com`, /This is no target/],
  ])('%j is refused', (text, message) => {
    expect(() => parsed(text)).toThrow(message);
    expect(() => parsed(text)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

describe('targets', () => {
  it('are kept once each, in canonical form', async () => {
    const texts = ['https://API.example.com:443', 'https://api.example.com', 'GET https://b.example.com'];
    expect(await parseTargets('targets', texts)).toEqual([
      'https://api.example.com',
      'GET https://b.example.com',
    ]);
  });

  it.each(['https://*.co.uk', 'https://*.github.io', 'https://*.s3.amazonaws.com'])(
    'below a public suffix are refused: %s',
    async (text) => {
      await expect(parseTargets('targets', [text])).rejects.toMatchObject({
        ...{ code: 'invalid_argument', fields: { parameter: 'targets' } },
      });
    },
  );

  it('are 1 to 20', async () => {
    const many = Array.from({ length: 21 }, (_, at) => `https://a${at}.example.com`);
    await expect(parseTargets('targets', [])).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(parseTargets('targets', many)).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await parseTargets('targets', many.slice(1))).toHaveLength(20);
  });

  it.each([
    [['https://api.example.com/v1', 'GET https://api.example.com'], null],
    [['https://a.below.example.org'], null],
    [['https://*.below.example.org'], null],
    [['https://example.org'], 'https://example.org'],
    [['https://api.example.com:8443'], 'https://api.example.com:8443'],
    [['https://api.example.com', 'https://evil.example'], 'https://evil.example'],
    [['https://*.example.com'], 'https://*.example.com'],
  ])('%j lie in those that were there, but for %s', (wanted, outside) => {
    expect(targetOutside(wanted, ['https://api.example.com', 'https://*.example.org'])).toBe(outside);
  });
});
