/** The examples of RFC 6979 (A.2.5), and checks by OpenSSL. */
import { createECDH, createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signRepeatably } from '../../../src/model/certificates/repeatable-signature.ts';

const KEY = Buffer.from('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721', 'hex');

describe('a repeatable signature', () => {
  it.each([
    [
      'sample',
      'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716',
      'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
    ],
    [
      'test',
      'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367',
      '019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
    ],
  ])('of %j is that of the standard', (text, r, s) => {
    const hex = signRepeatably(KEY, Buffer.from(text)).toString('hex');
    expect(hex).toContain(r);
    expect(hex.endsWith(s)).toBe(true);
  });

  it('is valid for any key and content', () => {
    for (let round = 0; round < 20; round++) {
      const [key, content] = [randomBytes(32), randomBytes(round * 7)];
      const seed = `${key.toString('hex')} ${content.toString('hex')}`;
      expect([seed, verify('sha256', content, publicKeyOf(key), signRepeatably(key, content))]).toEqual([
        seed,
        true,
      ]);
      expect(verify('sha256', Buffer.from('other'), publicKeyOf(key), signRepeatably(key, content))).toBe(
        false,
      );
    }
  });
});

function publicKeyOf(key: Buffer): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(key);
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y } as never, format: 'jwk' });
}
