/** Decides where links of files from a sandbox may lead. */

/** @returns null for an address that is no page: scripts, data, paths of this service. */
export function safeHref(href: string): string | null {
  const url = URL.parse(href);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}
