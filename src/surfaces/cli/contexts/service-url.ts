/** Addresses of services that a key may be stored for. */

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export function isLoopback({ hostname }: URL): boolean {
  return loopback.test(hostname);
}

/** Returns the address without its last slash; null unless a key may be sent there in a header. */
export function serviceUrl(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  if (url.protocol === 'http:' && !isLoopback(url)) return null;
  if (url.username || url.password || url.search || url.hash) return null;
  return url.href.replace(/\/+$/, '');
}
