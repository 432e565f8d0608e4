/**
 * URLs of Git remotes. Only http, https, ssh and git are accepted: local paths, `file:`, `ext::` and every other
 * transport helper would run or read something that the caller of a tool did not mean.
 */
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';

export interface GitUrl {
  /** Text as given; passed to git and kept by it. */
  text: string;
  scheme: 'http' | 'https' | 'ssh' | 'git';
  /** Lower case; IPv6 in brackets. */
  host: string;
  /** null: the scheme's default port. */
  port: number | null;
  /** Normalized and percent-encoded for http and https. */
  path: string;
  /** The name before an `@`, if any. */
  user: string | null;
  /** One text for all spellings of one repository: the key of its credentials. */
  key: string;
  /** The last part of the path, without `.git`: the folder that a clone makes. */
  name: string;
}

const TAKEN =
  'Use an http://, https://, ssh:// or git:// URL, user@host:path, or a path in the sandbox that begins with / or ./.';
const hostName = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+\])$/;
const userName = /^[A-Za-z0-9_][A-Za-z0-9._@+%-]*$/;
const scpLike = /^([^@/:]+)@([^:/@]+):(.+)$/;

/** Throws `invalid_argument` naming `parameter`. */
export function parseGitUrl(text: string, parameter = 'url'): GitUrl {
  const refuse = (detail: string, hint = TAKEN) =>
    invalidArgument(parameter, `${parameter} ${detail}.`, hint);
  if (text.length > limits.git.urlChars) throw refuse(`must be at most ${limits.git.urlChars} characters`);
  if (text.startsWith('-')) throw refuse('must not begin with "-"');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (/[\u0000-\u0020\u007f\\]/.test(text) || !text.isWellFormed()) {
    throw refuse('must not contain spaces, control characters or backslashes');
  }
  if (text.includes('::')) {
    if (!/^(?:https?|ssh|git):\/\/(?:[^/@]*@)?\[/.test(text))
      throw refuse('must not name a transport helper');
  }
  const scheme = /^(https?|ssh|git):\/\//.exec(text)?.[1] as GitUrl['scheme'] | undefined;
  if (scheme) return parseWithScheme(text, scheme, refuse);
  const [, user = '', host = '', path = ''] = scpLike.exec(text) ?? [];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || host === '') {
    throw refuse('must be a remote repository over http, https, ssh or git');
  }
  if (!userName.test(user) || !hostName.test(host) || path.startsWith('-')) throw refuse('is not understood');
  return finished({ text, scheme: 'ssh', host: host.toLowerCase(), port: null, path, user }, refuse);
}

type Refuse = (detail: string, hint?: string) => Error;

function parseWithScheme(text: string, scheme: GitUrl['scheme'], refuse: Refuse): GitUrl {
  if (/[?#]/.test(text)) throw refuse('must have neither a query nor a fragment');
  const authority = text.slice(scheme.length + 3).split('/', 1)[0] ?? '';
  if (authority.slice(0, authority.lastIndexOf('@') + 1).includes(':')) {
    throw refuse(
      'must not contain a password',
      'Give username and password as parameters: they are kept out of the sandbox.',
    );
  }
  const url = URL.parse(text);
  if (!url) throw refuse('is not understood');
  const user = decoded(url.username);
  const host = url.hostname.toLowerCase();
  if (!hostName.test(host) || user === null || (user !== '' && !userName.test(user))) {
    throw refuse('must name a host');
  }
  const port = url.port === '' ? null : Number(url.port);
  return finished({ text, scheme, host, port, path: url.pathname, user: user || null }, refuse);
}

function finished(url: Omit<GitUrl, 'key' | 'name'>, refuse: Refuse): GitUrl {
  const path = url.path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  if (path === '') throw refuse('must name a repository on the host');
  const port = url.port === null ? '' : `:${url.port}`;
  return {
    ...url,
    key: `${url.scheme}://${url.host}${port}/${path}`,
    name: folderName(path),
  };
}

/** Returns a name that is safe as one part of a path, whatever the URL holds; empty when nothing is left of it. */
function folderName(path: string): string {
  const last = decoded(path.split(/[/:]/).at(-1) ?? '') ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces.
  const name = last.replaceAll(/[\u0000-\u001f\u007f/]/g, '').replace(/\.git$/, '');
  return name === '.' || name === '..' || name.startsWith('-') ? '' : name;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
