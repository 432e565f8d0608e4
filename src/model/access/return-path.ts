/** The path of the page that a browser goes to after its sign-in: never another site, nor a route of the API. */
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';

/** Paths that are no screens of the page. */
const ROUTES = /^\/(?:v1|mcp|auth|assets)(?:[/?#]|$)/i;

/** Returns the path. Throws `invalid_argument` for anything that a browser could take for another place. */
export function parseReturnPath(text: string): string {
  // No backslash, which browsers read as a slash, and no control characters, which they leave out.
  const isPlain =
    text.length <= limits.identity.returnPathChars && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text);
  const url = isPlain ? URL.parse(text, 'http://page.invalid') : null;
  const isOwn = url?.origin === 'http://page.invalid' && !url.pathname.startsWith('//');
  if (isOwn && !ROUTES.test(url.pathname)) return url.pathname + url.search + url.hash;
  throw invalidArgument(
    'return_path',
    'The return path must be a path of the page, such as /sandboxes.',
    'Give a path that begins with one slash, without a host, or leave it out.',
  );
}
