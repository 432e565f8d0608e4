/**
 * Host names of E2B's clients below the domain of previews: the control API, and the service inside of each sandbox, which
 * this service answers in its place. Both become paths and headers of the API's routes.
 */
import type { IncomingMessage } from 'node:http';

/** Roots of the routes; by host name nobody sees them. */
export const CONTROL = '/e2b/api';
export const ENVD = '/e2b/sandbox';

/** Port of the service inside of a sandbox, which no preview leads to. */
const ENVD_PORT = '49983';
/** Port of the code interpreter; its paths are none of the other's. */
const CONTEXTS_PORT = '49999';

/** Header that names a sandbox where no host name does. */
export const ID_HEADER = 'e2b-sandbox-id';

/** Older clients add an id of their own. */
const LABEL = /^(\d{5})-([0-9a-z]{16})(?:-[0-9a-z-]+)?$/;

/** Requests of the listener of previews that were led here: their Host was checked there. */
const led = new WeakSet<IncomingMessage>();

/**
 * Leads a request with a host name of E2B's to the route for it. Returns false for every other, which it leaves as it is.
 * @param host As it was checked.
 */
export function leadToRoute(request: IncomingMessage, host: string | undefined, domain: string): boolean {
  const name = host?.toLowerCase().replace(/:\d{1,5}$/, '') ?? '';
  const label = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : '';
  const [, port = '', id] = LABEL.exec(label) ?? [];
  const isInside = id !== undefined && (port === ENVD_PORT || port === CONTEXTS_PORT);
  if (label !== 'api' && !isInside) return false;
  request.url = (isInside ? ENVD : CONTROL) + (request.url ?? '/');
  if (isInside) Object.assign(request.headers, { [ID_HEADER]: id });
  led.add(request);
  return true;
}

export function wasLed(request: IncomingMessage): boolean {
  return led.has(request);
}

/** Returns the id of a sandbox as clients know it: it is part of host names. */
export function shortId(id: string): string {
  return id.replace(/^sb_/, '');
}

export function wholeId(short: string): string {
  return `sb_${short.split('-')[0]}`;
}
