/**
 * Name of the service for people on its own machine. Browsers send a cookie to every port of a host name, so at `localhost`
 * a program of a sandbox behind `sandhaven forward` would get that of the page.
 */

export const LOCAL_NAME = 'sandhaven.localhost';

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
