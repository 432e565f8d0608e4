/** Passkeys: where they work, and the challenges that they answer. */
import { describe, expect, it } from 'vitest';
import { issueChallenge, passkeySite, readChallenge } from '../../../src/model/access/passkeys.ts';

describe('a place for passkeys', () => {
  it.each([
    ['https://box.example.org', { origin: 'https://box.example.org', rpId: 'box.example.org' }],
    ['https://box.example.org:8443', { origin: 'https://box.example.org:8443', rpId: 'box.example.org' }],
    ['https://box.example.org:443', { origin: 'https://box.example.org', rpId: 'box.example.org' }],
    [
      'http://sandhaven.localhost:7420',
      { origin: 'http://sandhaven.localhost:7420', rpId: 'sandhaven.localhost' },
    ],
    ['http://box.example.org', null],
    ['https://192.0.2.7', null],
    ['http://127.0.0.1:7420', null],
    ['https://[2001:db8::7]', null],
    ['nonsense', null],
  ])('%s is %o', (origin, site) => {
    expect(passkeySite(origin)).toEqual(site);
  });
});

describe('a challenge', () => {
  const key = Buffer.alloc(32, 1);
  const NOW = 1_000_000;
  const { challenge, cookie } = issueChallenge(key, 'sign in', NOW);

  it('comes back by its cookie for five minutes, to whoever has the key', () => {
    expect(challenge).toEqual({ text: expect.stringMatching(/^[\w-]{43}$/), expiresAt: 1_300_000 });
    expect(readChallenge(key, 'sign in', cookie, 1_299_999)).toEqual(challenge);
    expect(readChallenge(key, 'sign in', cookie, 1_300_000)).toBeNull();
    expect(readChallenge(Buffer.alloc(32, 2), 'sign in', cookie, NOW)).toBeNull();
  });

  it('is about one thing, and unchanged', () => {
    const [text = '', expires = '', mac = ''] = cookie.split('.');
    expect(readChallenge(key, 'add sgn_1', cookie, NOW)).toBeNull();
    for (const other of [
      null,
      '',
      'x',
      `${text}.${expires}`,
      `${text}.9999999999999.${mac}`,
      `${'A'.repeat(43)}.${expires}.${mac}`,
      `${text}.${expires}.${'A'.repeat(43)}`,
      `${cookie}.`,
    ])
      expect(readChallenge(key, 'sign in', other, NOW), String(other)).toBeNull();
  });
});
