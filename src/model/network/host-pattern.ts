/** Hosts of network rules: a name, or all names below one (`*.example.com`). */
import { invalidArgument, type SandhavenError } from '../errors.ts';
import { limits } from '../limits.ts';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
/** The last label begins with a letter: `127.1` and `0x7f.1` are addresses to some programs. */
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);

/** Returns the canonical form: lower case, no dot at its end. Throws `invalid_argument` naming the parameter. */
export function parseHostPattern(parameter: string, text: string): string {
  const host = text.toLowerCase().replace(/\.$/, '');
  const name = host.replace(/^\*\./, '');
  if (name.length <= limits.network.hostChars && NAME.test(name)) return host;
  throw refusalOf(parameter, text, host);
}

/** Returns true for a name that a pattern covers. A name counts as the pattern of itself, and `*.a.b` lies in `*.b`. */
export function coversHost(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  return pattern.startsWith('*.') && host.endsWith(pattern.slice(1));
}

function refusalOf(parameter: string, text: string, host: string): SandhavenError {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is not ASCII.
  if (/[^\x00-\x7f]/.test(host)) {
    return invalidArgument(
      parameter,
      `The name '${text}' has letters outside of ASCII.`,
      'Write the form that DNS has, which begins with xn--.',
    );
  }
  if (host.startsWith('[') || host.includes('::')) {
    return invalidArgument(
      parameter,
      `'${text}' looks like an IPv6 address, and sandboxes have IPv4 alone.`,
      'Write a name, or an IPv4 address.',
    );
  }
  if (host === '*') {
    return invalidArgument(
      parameter,
      'A rule for every name is none.',
      'The mode open allows everything public.',
    );
  }
  if (/^\*\.[a-z0-9-]+$/.test(host)) return publicSuffix(parameter, host);
  return invalidArgument(
    parameter,
    `'${text}' is no name of a host and no IPv4 address or range.`,
    'For example api.example.com, *.example.com for all names below, 203.0.113.7 or 203.0.113.0/24.',
  );
}

/**
 * Rejects with `invalid_argument` for a pattern of all names below a public suffix: below com, co.uk and github.io anyone may
 * register one. The list is large, so it is loaded by the first call with a pattern.
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

function publicSuffix(parameter: string, host: string): SandhavenError {
  return invalidArgument(
    parameter,
    `'${host}' would allow names of everybody: anyone may have one below ${host.slice(2)}.`,
    'Name the hosts, or a domain that one organization owns.',
  );
}
