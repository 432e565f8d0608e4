/**
 * Redirect URIs that a client may have. A code goes to one of them, so each has to be a place that its owner alone
 * receives from: https, or the loopback of the person's own machine.
 *
 * Source: RFC 8252, sections 7.3 and 8.3, and RFC 9700, section 4.1.
 */
import { limits } from '../../limits.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns the reason against it, or null. */
export function faultOfRedirectUri(text: unknown): string | null {
  if (typeof text !== 'string') return 'it is no text';
  if (text.length > limits.oauth.redirectUriChars) return 'it is too long';
  // Programs read these in more than one way.
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"`{}|^]/.test(text)) return 'it has characters that no URL has';
  const url = URL.parse(text);
  if (url === null) return 'it is no URL';
  if (text.includes('#')) return 'it has a fragment';
  if (text.includes('*')) return 'it has a wildcard';
  const authority = /^https?:\/\/([^/?]*)/.exec(text)?.[1];
  if (authority === undefined) return 'it is neither https nor http on loopback';
  if (authority.includes('@')) return 'it has a user name';
  // 127.1 and %31 mean 127.0.0.1 to some programs, and nothing to others.
  if (authority.replace(/:\d*$/, '') !== url.hostname || url.hostname.endsWith('.'))
    return 'its host is in no plain form';
  const isLoopback = LOOPBACK.has(url.hostname);
  if (url.protocol === 'http:' && !isLoopback) return 'it is neither https nor http on loopback';
  if (url.protocol === 'https:' && isLoopback) return 'loopback has no https';
  return null;
}

/** Returns the host with its port, as people should see it. */
export function hostOfRedirectUri(uri: string): string {
  return URL.parse(uri)?.host ?? '';
}
