/**
 * Receivers that a webhook may have. A member chooses the URL and the service connects, so without these rules a webhook
 * would be a way into the operator's own network. Public addresses are free; others need `--webhook-allow`.
 */
import { isIP } from 'node:net';
import { invalidArgument, type SandhavenError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AllowedHost, isInNetworks, isNamed, targetOf } from '../network/allowed-hosts.ts';
import { isPublic } from '../network/public-addresses.ts';

const HINT = 'For example https://example.org/hooks. The operator allows others with --webhook-allow.';

/** Returns the URL in its plain form. Throws `invalid_argument` by what it says; its name is resolved at each attempt. */
export function parseReceiver(text: string, allowed: readonly AllowedHost[]): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw wrong('url must be an https URL.');
  }
  if (url.href.length > limits.webhooks.urlChars) {
    throw wrong(`url has ${url.href.length} characters; at most ${limits.webhooks.urlChars} fit.`);
  }
  if (url.username !== '' || url.password !== '') throw wrong('url must not hold credentials.');
  if (url.hash !== '' || text.includes('#')) throw wrong('url must not have a fragment.');
  if (isFree(url, allowed)) return url.href;
  if (url.protocol !== 'https:') throw wrong('url must begin with https://.');
  if (!limits.webhooks.ports.includes(targetOf(url).port)) {
    throw wrong(`url must have port ${limits.webhooks.ports.join(' or ')}.`);
  }
  const { host } = targetOf(url);
  if (isIP(host) !== 0 && !isPublic(host)) {
    throw wrong('url must have a public address.');
  }
  return url.href;
}

/** Returns true for the scheme and the port that a receiver may have; its addresses are decided when it is connected to. */
export function isOrderly(url: URL, allowed: readonly AllowedHost[]): boolean {
  if (isFree(url, allowed)) return true;
  return url.protocol === 'https:' && limits.webhooks.ports.includes(targetOf(url).port);
}

/** Returns true when the operator has named this host, or a network that this very address is in: then scheme and port are free, too. */
function isFree(url: URL, allowed: readonly AllowedHost[]): boolean {
  const target = targetOf(url);
  return isNamed(target, allowed) || (isIP(target.host) !== 0 && isInNetworks(target.host, allowed));
}

function wrong(detail: string): SandhavenError {
  return invalidArgument('url', detail, HINT);
}
