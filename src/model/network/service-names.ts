/** Names of this service: the public ones for the API and for previews, and one for people on its own machine. */
import { invalidArgument } from '../errors.ts';

/** Domain of previews: each preview is a name in it. */
export interface PreviewSite {
  protocol: 'http' | 'https';
  domain: string;
  port: number;
}

/**
 * Browsers send a cookie to every port of a host name, so at `localhost` a program of a sandbox behind `sandhaven forward`
 * would get that of the page.
 */
export const LOCAL_NAME = 'sandhaven.localhost';

const STANDARD_PORTS = { http: 80, https: 443 };
/** A preview's own label, of up to 33 characters, precedes it in a name of at most 253. */
const DOMAIN_CHARS = 219;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** Returns the origin without a slash at its end. `name` is all of a preview's own, or `*`. */
export function previewOrigin({ protocol, domain, port }: PreviewSite, name: string): string {
  return `${protocol}://${name}.${domain}${port === STANDARD_PORTS[protocol] ? '' : `:${port}`}`;
}

/** Parses an origin such as https://sandhaven.example.com; null for none. Throws `invalid_argument`. */
export function parsePublicUrl(flag: string, text: string): string | null {
  if (text === '') return null;
  const url = URL.parse(text);
  const plain = url !== null && url.href.replace(/\/$/, '') === url.origin;
  if (plain && /^https?:$/.test(url.protocol) && !url.hostname.includes('*')) return url.origin;
  throw invalidArgument(
    flag,
    `${flag} must be scheme, host and port of a URL, and '${text}' was given.`,
    'For example https://sandhaven.example.com; a path before the API is not possible.',
  );
}

/** Parses a URL such as https://*.previews.example.com; null for none. Throws `invalid_argument`. */
export function parsePreviewUrl(flag: string, text: string): PreviewSite | null {
  if (text === '') return null;
  const [, scheme = '', domain = '', digits] =
    /^(https?):\/\/\*\.([^:/]+)(?::(\d{1,5}))?\/?$/.exec(text.toLowerCase()) ?? [];
  const protocol = scheme === 'http' ? 'http' : 'https';
  const port = digits === undefined ? STANDARD_PORTS[protocol] : Number(digits);
  if (isDomain(domain) && port > 0 && port <= 65_535) return { protocol, domain, port };
  throw invalidArgument(
    flag,
    `${flag} must be a URL with * for the name of a preview, and '${text}' was given.`,
    'For example https://*.previews.example.com.',
  );
}

/** Throws `invalid_argument` naming the flag. */
export function parseDomain(flag: string, text: string): string {
  const domain = text.toLowerCase();
  if (isDomain(domain)) return domain;
  throw invalidArgument(
    flag,
    `${flag} must be the name of a domain, and '${text}' was given.`,
    'For example previews.example.org, whose wildcard *.previews.example.org leads to --preview-listen.',
  );
}

const SHARED = ['localhost', '127.0.0.1', '[::1]'];

/** Returns the origin for people: on loopback, whose names all servers of the machine share, with a name of its own. */
export function originForPeople(origin: string): string {
  const url = new URL(origin);
  if (url.protocol === 'http:' && SHARED.includes(url.hostname)) url.hostname = LOCAL_NAME;
  return url.origin;
}

/**
 * Returns the origin for programs. Most resolve no name below `localhost`: only browsers and curl do so themselves, and Debian's
 * resolver does not. A name in an `https` origin stays, since its certificate is for it.
 */
export function originForPrograms(origin: string, loopback: string): string {
  const url = new URL(origin);
  if (url.protocol === 'http:' && /^(?:.+\.)?localhost$/.test(url.hostname)) url.hostname = loopback;
  return url.origin;
}

/** Returns true where browsers keep the cookie of a sign-in: over TLS, and on their own machine. */
export function keepsSignIn(origin: string): boolean {
  const url = URL.parse(origin);
  if (url === null) return false;
  return (
    url.protocol === 'https:' || /^(?:(?:[a-z0-9-]+\.)*localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)
  );
}

function isDomain(text: string): boolean {
  return text.length <= DOMAIN_CHARS && DOMAIN.test(text);
}
