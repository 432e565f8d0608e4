/**
 * Signatures on P-256 with SHA-256 that are the same each time (RFC 6979): the secret number of a signature follows from key
 * and content. Node's own take a random one, so a certificate made again would be another.
 */
import { createECDH, createHash, createHmac } from 'node:crypto';
import * as der from './der.ts';

const BYTES = 32;

/** Number of points of the curve. */
export const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** @param key Secret number of the key, 32 bytes. */
export function signRepeatably(key: Buffer, content: Buffer): Buffer {
  const digest = numberOf(createHash('sha256').update(content).digest()) % P256_ORDER;
  const nonce = nonceOf(key, bytesOf(digest));
  const point = createECDH('prime256v1');
  point.setPrivateKey(nonce);
  const r = numberOf(point.getPublicKey().subarray(1, 1 + BYTES)) % P256_ORDER;
  const s = (inverse(numberOf(nonce)) * (digest + r * numberOf(key))) % P256_ORDER;
  return der.sequence(der.integer(bytesOf(r)), der.integer(bytesOf(s)));
}

export const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

export const bytesOf = (number: bigint): Buffer =>
  Buffer.from(number.toString(16).padStart(2 * BYTES, '0'), 'hex');

/** RFC 6979, 3.2. */
function nonceOf(key: Buffer, digest: Buffer): Buffer {
  let secret: Buffer = Buffer.alloc(BYTES, 0);
  let value: Buffer = Buffer.alloc(BYTES, 1);
  const mix = (...parts: Buffer[]): void => {
    secret = hmac(secret, value, ...parts);
    value = hmac(secret, value);
  };
  mix(Buffer.of(0), key, digest);
  mix(Buffer.of(1), key, digest);
  for (;;) {
    value = hmac(secret, value);
    const number = numberOf(value);
    if (number > 0n && number < P256_ORDER) return value;
    mix(Buffer.of(0));
  }
}

function hmac(secret: Buffer, ...parts: Buffer[]): Buffer {
  return createHmac('sha256', secret).update(Buffer.concat(parts)).digest();
}

/** By Fermat's little theorem, as the order is a prime. */
function inverse(number: bigint): bigint {
  let [result, power] = [1n, number % P256_ORDER];
  for (let rest = P256_ORDER - 2n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * power) % P256_ORDER;
    power = (power * power) % P256_ORDER;
  }
  return result;
}
