/** Explains a service that gives no answer of its own: nobody listening, the other protocol, an unknown certificate. */
import { SandhavenError } from '../../model/errors.ts';

interface Explanation {
  reason: string;
  hint: string;
}

export function unreachable(url: string, error: unknown): SandhavenError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as { code?: unknown } | null)?.code;
  const { reason, hint } = explanationOf(cause, typeof code === 'string' ? code : '', url);
  return new SandhavenError('unavailable', `The service at ${url} cannot be reached: ${reason}.`, { hint });
}

function explanationOf(cause: unknown, code: string, url: string): Explanation {
  const message = (cause instanceof Error ? cause.message : String(cause)).trim().replace(/\.$/, '');
  if (message.startsWith('This port speaks TLS')) {
    return { reason: 'the port speaks TLS', hint: `Use ${url.replace('http:', 'https:')}.` };
  }
  if (plainHttpCodes.has(code)) {
    return { reason: 'the port speaks plain HTTP', hint: `Use ${url.replace('https:', 'http:')}.` };
  }
  if (/CERT|SELF_SIGNED|ALTNAME/.test(code)) {
    return {
      reason: `its certificate is not trusted (${message})`,
      hint: 'Use a name that the certificate holds, and name the file of its authority in NODE_EXTRA_CA_CERTS.',
    };
  }
  return {
    reason: message,
    hint: 'Start it with `sandhaven up`, or give its address with SANDBOX_API_URL or --url.',
  };
}

/** OpenSSL's errors for the beginning of an HTTP response. */
const plainHttpCodes = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
]);
