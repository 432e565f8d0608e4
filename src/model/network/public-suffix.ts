/** Public suffixes: names below which anyone may register one, such as com, co.uk and github.io. */
import { publicSuffix } from './host-pattern.ts';

/**
 * Rejects with `invalid_argument` for a pattern of all names below a public suffix. The list is large, so it is loaded by
 * the first call with a pattern.
 */
export async function assertNoPublicSuffix(parameter: string, hosts: readonly string[]): Promise<void> {
  const patterns = hosts.filter((host) => host.startsWith('*.'));
  if (patterns.length === 0) return;
  const { getPublicSuffix } = await import('tldts');
  for (const pattern of patterns) {
    const name = pattern.slice(2);
    const suffix = getPublicSuffix(name, { allowPrivateDomains: true, extractHostname: false });
    if (suffix === name) throw publicSuffix(parameter, pattern);
  }
}

/** Resolves to the name that was registered below a public suffix, and null for a public suffix itself. */
export async function registrableDomain(host: string): Promise<string | null> {
  const { getDomain } = await import('tldts');
  return getDomain(host, { allowPrivateDomains: true, extractHostname: false });
}
