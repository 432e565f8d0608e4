/** Failures that the bridge itself reports: as an answer to the client, and as a line on standard error. */
import { randomBytes } from 'node:crypto';

/** Codes of the service's own problems, with the status of HTTP and the exit status that each has on its command line. */
const codes = {
  invalid_argument: { status: 400, exit: 2, title: 'Invalid argument' },
  unauthenticated: { status: 401, exit: 3, title: 'Unauthenticated' },
  permission_denied: { status: 403, exit: 3, title: 'Permission denied' },
  too_large: { status: 413, exit: 6, title: 'Too large' },
  resource_exhausted: { status: 429, exit: 6, title: 'Resource exhausted' },
  unavailable: { status: 503, exit: 7, title: 'Unavailable' },
} as const;

export type FailureCode = keyof typeof codes;

export class Failure extends Error {
  readonly code: FailureCode;
  /** The next step. */
  readonly hint: string;

  constructor(code: FailureCode, detail: string, hint: string) {
    super(detail);
    this.name = 'Failure';
    this.code = code;
    this.hint = hint;
  }

  get exit(): number {
    return codes[this.code].exit;
  }

  /** The problem document that every surface of the service has. */
  problem(): Record<string, unknown> {
    const { status, title } = codes[this.code];
    return {
      type: 'about:blank',
      ...{ title, status, code: this.code, detail: this.message, hint: this.hint },
      retryable: this.code === 'unavailable',
      request_id: `req_${randomBytes(8).toString('hex')}`,
    };
  }
}

export function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(codes, code);
}

/** Explains a service that gives no answer of its own. */
export function unreachable(origin: string, error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = String((cause as { code?: unknown } | null)?.code ?? '');
  const message = (cause instanceof Error ? cause.message || code : String(cause)).trim().replace(/\.$/, '');
  const failure = (reason: string, hint: string) =>
    new Failure('unavailable', `The service at ${origin} cannot be reached: ${reason}.`, hint);
  if (plainHttpCodes.has(code)) {
    return failure('the port speaks plain HTTP', `Use ${origin.replace('https:', 'http:')}.`);
  }
  if (/CERT|SELF_SIGNED|ALTNAME/.test(code)) {
    const hint =
      'Use a name that the certificate holds, and name the file of its authority in NODE_EXTRA_CA_CERTS.';
    return failure(`its certificate is not trusted (${message})`, hint);
  }
  return failure(message, 'Check the address, SANDBOX_API_URL or --url, and that the service runs there.');
}

/** OpenSSL's errors for the beginning of an HTTP response. */
const plainHttpCodes = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
]);

/** Returns one bounded line without control characters, nor the key: text of a service goes to logs of clients. */
export function printable(text: string, key: string, chars: number): string {
  const without = key === '' ? text : text.replaceAll(key, '[key]');
  const line = without.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');
  return line.length > chars ? `${line.slice(0, chars)}…` : line;
}
