/**
 * Media types of the files that a preview shows, by the endings of their names. Contents never choose one: HTML in a file
 * named .png is a broken image.
 */

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
};

/** Returns null for a file that is no image and no PDF by its name. */
export function shownTypeOf(path: string): string | null {
  const ending = /[^/.]\.([^/.]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(types, ending) ? (types[ending] ?? null) : null;
}
