/** Host names of E2B's clients: which of them leave the previews for a route, and what becomes of them. */
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { leadToRoute, wasLed } from '../../../src/surfaces/e2b/base/address.ts';

const DOMAIN = 'previews.example.com';
const led = (host: string | undefined, headers: Record<string, string> = {}) => {
  const request = { url: '/files?path=a', headers } as unknown as IncomingMessage;
  const isLed = leadToRoute(request, host, DOMAIN);
  expect(wasLed(request)).toBe(isLed);
  return isLed ? [request.url, request.headers['e2b-sandbox-id']] : null;
};

it.each([
  ['api.previews.example.com', ['/e2b/api/files?path=a', undefined]],
  ['API.previews.example.com:7421', ['/e2b/api/files?path=a', undefined]],
  ['49983-0123456789abcdef.previews.example.com', ['/e2b/sandbox/files?path=a', '0123456789abcdef']],
  ['49999-0123456789abcdef.previews.example.com:443', ['/e2b/sandbox/files?path=a', '0123456789abcdef']],
  // As clients of the first generation write it.
  [
    '49983-0123456789abcdef-sandhaven.previews.example.com',
    ['/e2b/sandbox/files?path=a', '0123456789abcdef'],
  ],
])('%s leads to a route', (host, route) => {
  expect(led(host)).toEqual(route);
});

it.each([
  '3000-0123456789abcdef.previews.example.com',
  '49983-abcdefghijklmnopqrstuvwxyz.previews.example.com',
  'file-abcdefghijklmnopqrstuvwxyz.previews.example.com',
  'api.api.previews.example.com',
  'api.example.com',
  'previews.example.com',
  '49983-0123456789abcdef.previews.example.com.evil.test',
  undefined,
])('%s is none of theirs', (host) => {
  expect(led(host)).toBeNull();
});

it('names the sandbox by its host, whatever its headers name', () => {
  const headers = { 'e2b-sandbox-id': 'fedcba9876543210', 'e2b-sandbox-port': '49999' };
  expect(led('49983-0123456789abcdef.previews.example.com', headers)).toEqual([
    '/e2b/sandbox/files?path=a',
    '0123456789abcdef',
  ]);
});
