/** Takes the one-time ticket of a link such as `/#ticket=…`, and removes it from the address bar and the history. */

const TICKET = /^#ticket=([A-Za-z0-9_.~-]{1,512})$/;

interface Place {
  hash: string;
  pathname: string;
  search: string;
}

/** @returns null without a ticket in the address. */
export function takeTicket(
  place: Place,
  history: { replaceState(data: null, unused: string, url: string): void },
): string | null {
  // Read before the change of the address, which changes the place too.
  const { hash, pathname, search } = place;
  if (!hash.startsWith('#ticket=')) return null;
  history.replaceState(null, '', pathname + search);
  return TICKET.exec(hash)?.[1] ?? null;
}
