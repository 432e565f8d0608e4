/** What a clone may begin from: a remote over the network, or a repository inside the sandbox. */
import { posix } from 'node:path';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { type GitUrl, parseGitUrl } from './url.ts';

export interface GitRemote {
  /** What git is given: the URL, or the absolute path. */
  text: string;
  /** null: a repository inside the sandbox. */
  url: GitUrl | null;
  /** For people, without credentials. */
  shown: string;
  /** The folder that a clone makes; empty when the text ends in no name. */
  name: string;
}

/** Takes what `parseGitUrl` takes, `file://` URLs and paths that begin with `/`, `./` or `../`, as from `root`. */
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
 * A remote as the configuration of a repository has it: whatever is no URL that a door could lead to is git's own
 * business, a URL with a password, a path or a name of ssh's configuration included.
 */
export function configuredRemote(text: string): Pick<GitRemote, 'text' | 'url' | 'shown'> {
  const shown = withoutCredentials(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  try {
    return { text, url: parseGitUrl(text), shown };
  } catch {
    return { text, url: null, shown };
  }
}

/** Of any text that may hold URLs. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s']*@/gi, '$1');
}

/** null when it is none. `file://` has no host here. */
function pathOfFileUrl(text: string): string | null {
  return /^file:\/\/(?:localhost)?(\/.*)$/s.exec(text)?.[1] ?? null;
}

function nameOf(path: string): string {
  const folder = path.replace(/\/\.git$/, '');
  const name = posix.basename(folder).replace(/\.(?:git|bundle)$/, '');
  return name.startsWith('-') || name === '.' || name === '..' ? '' : name;
}
