/** Headers between a visitor and an application: the cookie of the service's own page is none of the application's. */
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { toApplication, toVisitor } from '../../src/gateways/preview/headers.ts';

function message(...rawHeaders: string[]): IncomingMessage {
  const headers = Object.fromEntries(
    Array.from({ length: rawHeaders.length / 2 }, (_, n) => [
      rawHeaders[2 * n]?.toLowerCase(),
      rawHeaders[2 * n + 1],
    ]),
  );
  return { rawHeaders, headers, method: 'GET' } as unknown as IncomingMessage;
}

const arrival = { client: '192.0.2.1', protocol: 'http', host: '8000-x.localhost:1' } as const;

it('the token of a visitor reaches no application, under whichever name', () => {
  const sent = message('Host', 'x', 'X-Sandbox-Preview-Token', 'a', 'X-Other-Token', 'b', 'X-More', 'c');
  const headers = toApplication(sent, arrival, null, ['x-sandbox-preview-token', 'x-other-token']);
  expect(headers).not.toContain('a');
  expect(headers).not.toContain('b');
  expect(headers).toContain('c');
});

describe('the cookie of a sign-in', () => {
  it.each([
    ['a=1; __Host-sandhaven=sgn_1.secret; b=2', 'a=1; b=2'],
    ['__Host-sandhaven=sgn_1.secret', ''],
    ['a=1; __Host-sandhaven-challenge=c.1.m; b=2', 'a=1; b=2'],
    ['a=__Host-sandhaven; x__Host-sandhaven=1', 'a=__Host-sandhaven; x__Host-sandhaven=1'],
    ['a=1;__Host-sandhaven = s;__Host-sandhaven=t', 'a=1'],
    ['a=1; __Host-sandhaven-provider=s', 'a=1'],
  ])('never reaches an application: %s', (sent, arrives) => {
    const headers = toApplication(message('Host', 'x', 'Cookie', sent), arrival, null, []);
    expect(headers[headers.indexOf('Cookie') + 1]).toBe(arrives);
    expect(headers.join('\n')).not.toContain('sgn_1.secret');
  });

  it('is set and ended by no application', () => {
    const answer = message(
      ...['Set-Cookie', 'a=1', 'set-cookie', '__Host-sandhaven=sgn_1.x; Path=/; Secure'],
      ...['Content-Type', 'text/html', 'Set-Cookie', '__Host-sandhaven=; Max-Age=0'],
    );
    expect(toVisitor(answer, false)).toEqual(['Set-Cookie', 'a=1', 'Content-Type', 'text/html']);
  });
});
