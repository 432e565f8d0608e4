/** Explains an answer of HTTP that is no message of MCP. */
import { Failure, isFailureCode, printable } from './failure.ts';
import { isObject } from './messages.ts';

interface Context {
  url: URL;
  key: string;
  /** Most that is quoted of a text. */
  chars: number;
}

/** @param value The body as JSON, such as a problem document; undefined where it is none. */
export function refusalOf(
  response: Response,
  value: unknown,
  text: string,
  { url, key, chars }: Context,
): Failure {
  const quoted = (part: unknown) => (typeof part === 'string' ? printable(part, key, chars) : '');
  const { status } = response;
  if (status >= 300 && status < 400) {
    return new Failure(
      'unavailable',
      `The service at ${url.origin} redirects to ${quoted(response.headers.get('location')) || 'another address'}.`,
      'The key goes to no other address than the one that is given: give that one.',
    );
  }
  const problem = isObject(value) ? value : {};
  const detail = quoted(problem['detail']);
  const hint = quoted(problem['hint']);
  if (status === 401) {
    return new Failure(
      'unauthenticated',
      detail || 'The service does not take the API key.',
      'Check SANDBOX_API_KEY, or the file with the key: it may be of another service, expired or revoked.',
    );
  }
  if (status === 404 && detail === '') {
    const hint = 'Give the address of the service itself, without the path of a tool or of the page.';
    return new Failure('unavailable', `There is no MCP at ${url.origin}${url.pathname}.`, hint);
  }
  // The port of a service that speaks TLS says so in plain words.
  const said = detail || quoted(/^text\/plain\b/.test(typeOf(response)) ? text.split('\n', 1)[0] : '');
  const code = isFailureCode(problem['code']) ? problem['code'] : codeOf(status);
  return new Failure(
    code,
    `The service at ${url.origin} answers with status ${status}${said === '' ? '.' : `: ${said}`}`,
    hint || 'Check the address, and what is before the service.',
  );
}

function typeOf(response: Response): string {
  return response.headers.get('content-type') ?? '';
}

function codeOf(status: number) {
  if (status === 400) return 'invalid_argument';
  if (status === 403) return 'permission_denied';
  if (status === 413) return 'too_large';
  return status === 429 ? 'resource_exhausted' : 'unavailable';
}
