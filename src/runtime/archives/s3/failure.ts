/** Failures of an S3 server, for decisions here and for the log; callers of the service get `toCallerError`. */
import { SandhavenError } from '../../../model/errors.ts';

export class S3Failure extends Error {
  /** null when no answer came. */
  readonly status: number | null;
  /** The server's code, such as NoSuchKey, or one of ours: Unreachable, Silent, Slow, Short, Strange. */
  readonly code: string;

  constructor(code: string, status: number | null, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'S3Failure';
    this.code = code;
    this.status = status;
  }

  /** true: another attempt may succeed at once. */
  get passing(): boolean {
    if (this.status === null) return this.code !== 'Strange';
    return this.status >= 500 || this.status === 429 || passingCodes.has(this.code);
  }
}

/** The last two: the body was damaged on its way. */
const passingCodes = new Set([
  'RequestTimeout',
  'SlowDown',
  'OperationAborted',
  'InternalError',
  'XAmzContentSHA256Mismatch',
  'BadDigest',
]);

/** Recognizes the answer that an object, or an unfinished upload, is not there. */
export function isAbsent(error: unknown): boolean {
  return error instanceof S3Failure && error.status === 404 && absentCodes.has(error.code);
}

/** The last one: an answer to HEAD has no body to name a code in. */
const absentCodes = new Set(['NoSuchKey', 'NoSuchUpload', 'HTTP 404']);

/** Reasons of codes that an operator must act on, and what to do. */
const known: Record<string, [reason: string, hint: string]> = {
  NoSuchBucket: ['the bucket does not exist', 'Create the bucket, or correct --archive-store.'],
  AccessDenied: [
    'the credentials do not allow it',
    'Allow them to put, get, list and delete objects below the prefix, and to abort multipart uploads.',
  ],
  AllAccessDisabled: ['the bucket is closed', 'Open the bucket, or choose another with --archive-store.'],
  InvalidAccessKeyId: ['the access key is not known there', 'Correct the credentials.'],
  SignatureDoesNotMatch: ['the secret key is wrong', 'Correct the credentials.'],
  ExpiredToken: ['the credentials have expired', 'Renew the credentials, and restart the service.'],
  InvalidToken: ['the session token is not valid', 'Renew the credentials, and restart the service.'],
  RequestTimeTooSkewed: ["this host's clock is wrong", 'Set the clock.'],
  AuthorizationHeaderMalformed: ['the region is wrong', 'Correct --s3-region.'],
  PermanentRedirect: ['the bucket is in another region', 'Correct --s3-region or --s3-endpoint.'],
  Redirected: ['the server redirects elsewhere', 'Correct --s3-endpoint, --s3-region or --s3-path-style.'],
  Unreachable: ['it cannot be reached', 'Check --s3-endpoint, and the network of this host.'],
  Silent: ['it does not answer', 'Check --s3-endpoint, and the network of this host.'],
  Slow: ['it takes too long', 'Check the server, and the network of this host.'],
};

export interface Reason {
  /** Continues "The archive store cannot be used: …". */
  reason: string;
  hint: string;
}

export function reasonOf(error: unknown): Reason {
  if (!(error instanceof S3Failure)) return { reason: 'it failed', hint: "The service's log has the cause." };
  const [reason, hint] = known[error.code] ?? [
    `it answers ${error.code}`,
    'Check that --s3-endpoint is a server that speaks the S3 protocol.',
  ];
  return { reason, hint };
}

/** Keeps the server's own text in the cause: it may hold names of the operator's network. */
export function toCallerError(given: unknown): unknown {
  const late = given instanceof DOMException && given.name === 'TimeoutError';
  const error = late ? new S3Failure('Slow', null, 'S3 took too long', given) : given;
  if (!(error instanceof S3Failure)) return error;
  return new SandhavenError(
    'unavailable',
    `The archive store cannot be used: ${reasonOf(error).reason}.`,
    { hint: "Nothing was lost. Try again later; the service's log has the cause.", retryable: true },
    error,
  );
}

// The little XML that S3 answers with: elements without attributes, found by name. It decides nothing about secrets, and
// every value is checked by its user.

/** Returns the contents of every element of this name, nested ones as XML. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, inner = '']) => inner);
}

/** Returns the text of the first element of this name; null without one. */
export function textOf(xml: string, name: string): string | null {
  const [inner] = elementsOf(xml, name);
  return inner === undefined ? null : decode(inner);
}

export function encode(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return entities[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
