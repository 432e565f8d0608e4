/** Heads of multipart bodies and of their parts, read and written (RFC 7578, RFC 8187). */
import { invalidArgument } from '../../model/errors.ts';

/** Returns the boundary of a multipart form; null for a body of another type. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (!contentType || !/^multipart\/form-data\s*;/i.test(contentType)) return null;
  // The RFC allows 70 characters.
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70})(?![^\s;]))/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

/** Returns the name of a part's field. */
export function nameOf(head: string): string {
  const disposition = head.split('\r\n').find((line) => /^content-disposition:\s*form-data\s*;/i.test(line));
  const parameters = disposition?.matchAll(/;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g) ?? [];
  for (const [, parameter = '', quoted, plain = ''] of parameters) {
    if (parameter.toLowerCase() === 'name') return quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain;
  }
  throw invalidArgument('body', 'A part of the multipart body has no name.');
}

export interface PartHead {
  name: string;
  filename: string;
  type: string;
  /** Unknown without it. */
  length?: number;
}

export function headOf({ name, filename, type, length }: PartHead): string {
  return [
    `Content-Disposition: form-data; name="${name}"; ${filenameOf(filename)}`,
    `Content-Type: ${type}`,
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    '\r\n',
  ].join('\r\n');
}

/** Old readers know the quoted form alone, and others read only ASCII in it: they know the encoded one, which counts before it. */
function filenameOf(filename: string): string {
  const quoted = `filename="${filename.replaceAll(/["\\]/g, '\\$&').replaceAll(/\p{Cc}/gu, '_')}"`;
  if (/^[\w ./@+=,~-]*$/.test(filename)) return quoted;
  const encoded = encodeURIComponent(filename.toWellFormed());
  const strict = encoded.replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${quoted}; filename*=utf-8''${strict}`;
}
