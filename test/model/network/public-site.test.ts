/** Public names of the service: an origin for the API, a domain for previews. */
import { describe, expect, it } from 'vitest';
import {
  parseDomain,
  parsePreviewUrl,
  parsePublicUrl,
  previewOrigin,
} from '../../../src/model/network/service-names.ts';

const refusedFlag = (parameter: string) =>
  expect.objectContaining({ code: 'invalid_argument', fields: expect.objectContaining({ parameter }) });

/** 63, 63, 63 and 27 characters with three dots: as long as a domain of previews may be. */
const longest = [...Array(3).fill('a'.repeat(63)), 'b'.repeat(27)].join('.');

describe('the origin of the API', () => {
  it.each([
    ['', null],
    ['https://sandhaven.example.com', 'https://sandhaven.example.com'],
    ['https://sandhaven.example.com/', 'https://sandhaven.example.com'],
    ['http://Sandhaven.example.com:8080', 'http://sandhaven.example.com:8080'],
    ['https://sandhaven.example.com:443', 'https://sandhaven.example.com'],
  ])('%j is %j', (text, origin) => {
    expect(parsePublicUrl('--public-url', text)).toBe(origin);
  });

  it.each([
    ...['sandhaven.example.com', 'https://h/api', 'https://h?x', 'https://h#x', 'https://u:p@h'],
    ...['ftp://h', 'xhttps://h', 'https://*.example.com', 'about:blank'],
  ])('%j is none', (text) => {
    expect(() => parsePublicUrl('--public-url', text)).toThrow(refusedFlag('--public-url'));
  });
});

describe('the URL of previews', () => {
  it.each([
    ['', null],
    ['https://*.p.example.com', { protocol: 'https', domain: 'p.example.com', port: 443 }],
    ['http://*.p.example.com/', { protocol: 'http', domain: 'p.example.com', port: 80 }],
    ['HTTPS://*.P.example.com:8443', { protocol: 'https', domain: 'p.example.com', port: 8_443 }],
    ['http://*.localhost:65535', { protocol: 'http', domain: 'localhost', port: 65_535 }],
    ['http://*.localhost:1', { protocol: 'http', domain: 'localhost', port: 1 }],
    [`https://*.${longest}`, { protocol: 'https', domain: longest, port: 443 }],
  ])('%j is %j', (text, site) => {
    expect(parsePreviewUrl('--preview-url', text)).toEqual(site);
  });

  it.each([
    ...[
      'https://p.example.com',
      'https://*p.example.com',
      'ftp://*.p.example.com',
      'xhttps://*.p.example.com',
    ],
    ...['https://*.p.example.com:0', 'https://*.p.example.com:65536', 'https://*.p.example.com:123456'],
    ...[
      'https://*.p.example.com/x',
      'https://*.-p.example.com',
      'https://*.p..example.com',
      `https://*.a${longest}`,
    ],
  ])('%j is none', (text) => {
    expect(() => parsePreviewUrl('--preview-url', text)).toThrow(refusedFlag('--preview-url'));
  });

  it.each([
    ['https', 443, 'https://a.p.example.com'],
    ['http', 80, 'http://a.p.example.com'],
    ['https', 80, 'https://a.p.example.com:80'],
    ['http', 443, 'http://a.p.example.com:443'],
  ] as const)('has the origin of a preview: %s at port %i is %s', (protocol, port, origin) => {
    expect(previewOrigin({ protocol, domain: 'p.example.com', port }, 'a')).toBe(origin);
  });
});

describe('a domain', () => {
  it.each([
    ['localhost', 'localhost'],
    ['Previews.Example.ORG', 'previews.example.org'],
    ['1-a.b2', '1-a.b2'],
    [longest, longest],
  ])('may be %s', (text, domain) => {
    expect(parseDomain('--preview-domain', text)).toBe(domain);
  });

  it.each(['', '.a', 'a.', 'a..b', '-a', 'a-', 'a_b', 'a b', 'a/b', 'a'.repeat(64), `a${longest}`])(
    'is not %j',
    (text) => {
      expect(() => parseDomain('--preview-domain', text)).toThrow(refusedFlag('--preview-domain'));
    },
  );
});
