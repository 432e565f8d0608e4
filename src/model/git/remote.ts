/** Source of a clone: a remote over the network, or a repository inside the sandbox. */
import { posix } from 'node:path';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { type GitUrl, parseGitUrl } from './url.ts';

export interface GitRemote {
  /** Argument for git: the URL, or the absolute path. */
  text: string;
  /** null: a repository inside the sandbox. */
  url: GitUrl | null;
  /** Text for people, without credentials. */
  shown: string;
  /** Name of the folder that a clone makes; empty when the text ends in no name. */
  name: string;
}

/**
 * Accepts the URLs of `parseGitUrl`, `file://` URLs, and paths that begin with `/`, `./` or `../`, relative to `root`.
 */
export function parseGitRemote(text: string, root: string, parameter = 'url'): GitRemote {
  const path = /^\.{0,2}\//.test(text) ? text : pathOfFileUrl(text);
  if (path === null) {
    const url = parseGitUrl(text, parameter);
    return { text, url, shown: url.host, name: url.name };
  }
  const refuse = (detail: string) =>
    invalidArgument(parameter, `${parameter} ${detail}.`, 'Give the path of a repository in the sandbox.');
  if (path.length > limits.git.urlChars) throw refuse(`must be at most ${limits.git.urlChars} characters`);
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) throw refuse('must not contain control characters');
  const whole = posix.resolve(root, path);
  if (whole === '/') throw refuse('must name a repository');
  return { text: whole, url: null, shown: whole, name: nameOf(whole) };
}

/**
 * Returns a remote from a repository's configuration. Anything but a URL that a door could serve is left to git: a URL
 * with a password, a path, or a name of ssh's configuration.
 */
export function configuredRemote(text: string): Pick<GitRemote, 'text' | 'url' | 'shown'> {
  const shown = withoutCredentials(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  try {
    return { text, url: parseGitUrl(text), shown };
  } catch {
    return { text, url: null, shown };
  }
}

/** Removes credentials from the URLs of any text. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s']*@/gi, '$1');
}

/** Returns null for anything else. `file://` has no host here. */
function pathOfFileUrl(text: string): string | null {
  return /^file:\/\/(?:localhost)?(\/.*)$/s.exec(text)?.[1] ?? null;
}

function nameOf(path: string): string {
  const folder = path.replace(/\/\.git$/, '');
  const name = posix.basename(folder).replace(/\.(?:git|bundle)$/, '');
  return name.startsWith('-') || name === '.' || name === '..' ? '' : name;
}
