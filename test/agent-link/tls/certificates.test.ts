/** Certificates as OpenSSL reads them; the agent's own reading is tested with real agents. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certifySandbox, certifyService, makeAuthority } from '../../../src/agent-link/authority.ts';
import * as der from '../../../src/model/certificates/der.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const ID = 'sb_0123456789abcdef';

const authority = makeAuthority('abc123', NOW);
const read = (pem: string) => new X509Certificate(pem);
const utc = (date: Date) => date.toISOString();

describe('an installation', () => {
  it('has an authority that signs itself, for twenty years', () => {
    const own = read(authority.certificate);
    expect(own.ca).toBe(true);
    expect(own.subject).toBe('CN=sandhaven authority abc123');
    expect(own.verify(own.publicKey)).toBe(true);
    expect(utc(own.validFromDate)).toBe('2026-11-23T11:00:00.000Z');
    expect(utc(own.validToDate)).toBe('2046-11-18T12:00:00.000Z');
  });

  it('has a certificate of the service for a year, which is for clients', () => {
    const own = read(certifyService(authority, 'abc123', NOW).certificate);
    expect(own.ca).toBe(false);
    expect(own.subjectAltName).toBe('URI:sandhaven://service/abc123');
    expect(own.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(own.checkIssued(read(authority.certificate))).toBe(true);
    expect(own.verify(read(authority.certificate).publicKey)).toBe(true);
    expect(utc(own.validToDate)).toBe('2027-11-23T12:00:00.000Z');
  });

  it('has one for each sandbox and generation, which is for servers', () => {
    const pair = certifySandbox(authority, ID, 7, NOW);
    const own = read(pair.certificate);
    expect(own.subjectAltName).toBe('URI:sandhaven://sandbox/sb_0123456789abcdef/7');
    expect(own.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(own.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
    expect(utc(own.validFromDate)).toBe('2026-11-23T11:00:00.000Z');
    expect(utc(own.validToDate)).toBe('2027-11-24T12:00:00.000Z');
  });

  it('never makes the same key or serial number twice', () => {
    const [first, second] = [1, 2].map(() => read(certifySandbox(authority, ID, 7, NOW).certificate));
    expect(first?.serialNumber).not.toBe(second?.serialNumber);
    expect(first?.publicKey.equals(second?.publicKey as never)).toBe(false);
  });

  it.each(['sb_a/8', '', 'a b', 'x'.repeat(65)])('names nobody %j', (id) => {
    expect(() => certifySandbox(authority, id, 7, NOW)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53])('has no generation %d', (generation) => {
    expect(() => certifySandbox(authority, ID, generation, NOW)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('DER', () => {
  const hex = (value: Buffer) => value.toString('hex');

  it('writes integers in the fewest bytes, never as negative ones', () => {
    expect(hex(der.integer(Buffer.of(0)))).toBe('020100');
    expect(hex(der.integer(Buffer.of(0, 0, 0x7f)))).toBe('02017f');
    expect(hex(der.integer(Buffer.of(0x80)))).toBe('02020080');
  });

  it('writes lengths of one byte, and of more from 128 on', () => {
    expect(hex(der.octetString(Buffer.alloc(127))).slice(0, 4)).toBe('047f');
    expect(hex(der.octetString(Buffer.alloc(128))).slice(0, 6)).toBe('048180');
    expect(hex(der.octetString(Buffer.alloc(256))).slice(0, 8)).toBe('04820100');
  });

  it('writes object identifiers', () => {
    expect(hex(der.objectId('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
    expect(hex(der.objectId('2.5.29.17'))).toBe('0603551d11');
  });

  it('writes years with two digits until 2049', () => {
    const text = (iso: string) => der.time(Date.parse(iso) / 1000);
    expect(text('2049-12-31T23:59:59Z').toString('latin1')).toBe('\x17\r491231235959Z');
    expect(text('2050-01-01T00:00:00Z').toString('latin1')).toBe('\x18\x0f20500101000000Z');
  });

  it('marks context tags', () => {
    expect(hex(der.explicit(3, der.truth()))).toBe('a3030101ff');
    expect(hex(der.implicit(6, Buffer.from('a')))).toBe('860161');
    expect(hex(der.bitString(Buffer.of(0x80), 7))).toBe('03020780');
  });
});
