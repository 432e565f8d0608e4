/** Certificates of authorities that this host trusts, for sandboxes whose images have none. */
import { readFileSync, statSync } from 'node:fs';

/** Bundles of Debian and Alpine, of Fedora and its kin, and of openSUSE. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
const MOST_BYTES = 1024 ** 2;

/**
 * Returns the bundle that SSL_CERT_FILE names, or else the system's, in PEM. Null where there is none, or one of over
 * 1 MiB, or of no text.
 */
export function hostRoots(
  named = process.env['SSL_CERT_FILE'],
  bundles: readonly string[] = BUNDLES,
): string | null {
  for (const path of named ? [named] : bundles) {
    try {
      if (statSync(path).size > MOST_BYTES) continue;
      const text = readFileSync(path, 'utf8');
      if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    } catch {
      // Not there, or not to be read: the next one may be.
    }
  }
  return null;
}
