/** Certificate authorities of sandboxes, as OpenSSL reads them. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { subjectHash } from '../../../src/model/certificates/certificate.ts';
import { authorityCertificate, authorityOf } from '../../../src/runtime/oci/network/egress/authority.ts';

const KEY = Buffer.alloc(32, 1);
const ID = 'sb_0123456789abcdef';
const pem = authorityCertificate(KEY, ID);
const own = new X509Certificate(pem);

describe('the authority of a sandbox', () => {
  it('signs for servers alone, not for other authorities, until 2036', () => {
    const text = openssl(['x509', '-noout', '-text'], pem);
    expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0\n/);
    expect(text).toMatch(/Key Usage: critical\s+Certificate Sign\n/);
    expect(own.subject).toBe('CN=Sandhaven sandbox sb_0123456789abcdef');
    expect(own.issuer).toBe(own.subject);
    expect(own.validFromDate.toISOString()).toBe('2026-01-01T00:00:00.000Z');
    expect(own.validToDate.toISOString()).toBe('2036-01-01T00:00:00.000Z');
  });

  it('passes the strictest check', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-authority-'));
    const file = join(folder, 'authority.pem');
    writeFileSync(file, pem);
    const args = ['verify', '-x509_strict', '-check_ss_sig', '-CAfile', file, file];
    expect(openssl(args, '')).toBe(`${file}: OK\n`);
    rmSync(folder, { recursive: true });
  });

  it('is the same whenever it is made again, to the last byte', () => {
    expect(authorityCertificate(KEY, ID)).toBe(pem);
    expect(authorityOf(KEY, ID)).toEqual(authorityOf(KEY, ID));
  });

  it('has the key that the egress program gets, with the subject of the certificate', () => {
    const { key, subject } = authorityOf(KEY, ID);
    const privateKey = createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' });
    expect(own.checkPrivateKey(privateKey)).toBe(true);
    expect(privateKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(subject).toBe('Sandhaven sandbox sb_0123456789abcdef');
  });

  it('is no other sandbox’s, and no other installation’s', () => {
    const others = [authorityOf(KEY, 'sb_0123456789abcdee'), authorityOf(Buffer.alloc(32, 2), ID)];
    expect(new Set([authorityOf(KEY, ID), ...others].map(({ key }) => key)).size).toBe(3);
    const serial = (id: string) => new X509Certificate(authorityCertificate(KEY, id)).serialNumber;
    expect(serial('sb_0123456789abcdee')).not.toBe(serial(ID));
  });

  it('is found in a folder by the hash that OpenSSL gives its subject', () => {
    expect(openssl(['x509', '-noout', '-subject_hash'], pem).trim()).toBe(
      subjectHash('Sandhaven sandbox sb_0123456789abcdef'),
    );
  });
});

function openssl(args: string[], input: string): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8' });
}
