/** URLs of buckets and objects, in both styles. Source: Amazon S3 User Guide, "Virtual hosting of buckets". */
import type { S3Options } from '../../../model/archive-options.ts';

export interface S3Target {
  bucket: string;
  /** Absent for the bucket itself. Of [A-Za-z0-9._/-], so that its encoding is itself. */
  key?: string;
  query?: Record<string, string>;
}

export function urlOf(
  { endpoint, pathStyle }: Pick<S3Options, 'endpoint' | 'pathStyle'>,
  { bucket, key = '', query = {} }: S3Target,
): URL {
  const url = new URL(endpoint);
  if (pathStyle) {
    url.pathname = `/${bucket}/${key}`;
  } else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `/${key}`;
  }
  // Signatures cover the query in its percent encoding, which knows no plus for a space.
  url.search = Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return url;
}
