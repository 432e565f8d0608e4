/** Methods and path prefixes of `http` rules. */
import { invalidArgument } from '../errors.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/;
/** Characters that a path has unencoded (RFC 3986), without the comma, which is between rules in a list. */
const SEGMENT = /^[A-Za-z0-9._~!$&'()*+;=:@-]+$/;

/** Parses `GET,HEAD`, in any case; returns each once, sorted. Throws `invalid_argument` naming the parameter. */
export function parseMethods(parameter: string, text: string): string[] {
  const methods = text.toUpperCase().split(',');
  const wrong = methods.find((method) => !TOKEN.test(method));
  if (wrong !== undefined) {
    throw invalidArgument(
      parameter,
      `'${wrong}' is no method of HTTP.`,
      'For example GET,HEAD http://example.com.',
    );
  }
  if (methods.includes('CONNECT')) {
    throw invalidArgument(
      parameter,
      'CONNECT is refused always: nothing behind it could be checked.',
      'Allow the host that the connection goes to by a rule of its own.',
    );
  }
  return [...new Set(methods)].toSorted();
}

/** Parses a prefix; null for `/`, which is every path. A slash at its end has no meaning. Throws `invalid_argument`. */
export function parsePath(parameter: string, text: string): string | null {
  const path = text.replace(/\/$/, '');
  if (path === '') return null;
  const segments = path.slice(1).split('/');
  const wrong = segments.find((segment) => segment === '.' || segment === '..' || !SEGMENT.test(segment));
  if (wrong === undefined) return path;
  throw invalidArgument(
    parameter,
    `The path '${text}' cannot be a prefix: '${wrong}' is no plain segment.`,
    'Write segments without %, ?, #, commas and spaces, none of them empty, . or ..; a shorter prefix allows all below it.',
  );
}
