/**
 * Lets only this service's own page use a cookie: browsers send cookies along with requests that other sites cause. A
 * request has to come from this very origin, and one that may change something has to carry a header that no form can
 * send.
 *
 * Source: Fetch Metadata Request Headers (W3C), and the OWASP Cross-Site Request Forgery Prevention Cheat Sheet.
 */
import type { FastifyRequest } from 'fastify';
import { SandhavenError } from '../../../model/errors.ts';

export const PAGE_HEADER = 'x-sandhaven-request';

/** Throws `permission_denied`. */
export function assertOwnPage({ method, headers, arrival }: FastifyRequest): void {
  const isSafe = (method === 'GET' || method === 'HEAD') && headers.upgrade === undefined;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || (site === 'none' && isSafe);
  const isOwnOrigin = headers.origin === `${arrival.protocol}://${arrival.host}`;
  // Browsers name the Origin of everything but plain reads.
  if (!isOwnSite || (headers.origin === undefined ? !isSafe : !isOwnOrigin)) throw foreign();
  if (!isSafe && headers.upgrade === undefined && headers[PAGE_HEADER] === undefined) throw foreign();
}

function foreign(): SandhavenError {
  return new SandhavenError('permission_denied', 'The sign-in of a browser is for this service’s own page.', {
    parameter: 'Origin',
    hint: `Use an API key from programs and other sites. The page sends its Origin and ${PAGE_HEADER}.`,
  });
}
