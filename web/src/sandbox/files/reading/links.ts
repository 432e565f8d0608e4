/** Decides about the targets of links in files from a sandbox. */

/** @returns null for an address that is not a web page: scripts, data, paths of this service. */
export function safeHref(href: string): string | null {
  const url = URL.parse(href);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}
