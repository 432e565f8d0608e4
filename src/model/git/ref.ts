/** Names of branches, by the rules of `git check-ref-format`, and revisions that callers may give for a commit. */
import { limits } from '../limits.ts';

/**
 * Returns the fault of a branch name; null for a valid one. Continues a sentence that begins with the parameter's name.
 */
export function branchNameFault(name: string): string | null {
  if (name.startsWith('-')) return 'must not begin with "-"';
  if (name === '' || name === '@' || name === 'HEAD') return 'is not a branch name that Git takes';
  if (Buffer.byteLength(name) > limits.git.refBytes) return `must be at most ${limits.git.refBytes} bytes`;
  if (holdsForbidden(name)) return 'must not contain spaces, control characters or any of ~ ^ : ? * [ \\';
  if (name.includes('..') || name.includes('@{')) return 'must not contain ".." or "@{"';
  if (name.endsWith('.')) return 'must not end with "."';
  const parts = name.split('/');
  if (parts.includes('')) return 'must not begin or end with "/", nor contain "//"';
  if (parts.some((part) => part.startsWith('.') || part.endsWith('.lock'))) {
    return 'must have no part that begins with "." or ends with ".lock"';
  }
  return null;
}

/**
 * Returns the fault of a revision; null for a valid one. Branches, tags, hashes and expressions such as `HEAD~2` are
 * valid; git itself checks their existence.
 */
export function revisionFault(revision: string): string | null {
  if (revision.startsWith('-')) return 'must not begin with "-"';
  if (revision === '') return 'must not be empty';
  if (Buffer.byteLength(revision) > limits.git.refBytes)
    return `must be at most ${limits.git.refBytes} bytes`;
  // A range, or a file of a commit, is no commit.
  if (hasControlOrSpace(revision) || /\.\.|:/.test(revision)) {
    return 'must name one commit: a branch, a tag, a hash, or an expression such as HEAD~2';
  }
  return null;
}

function holdsForbidden(name: string): boolean {
  return hasControlOrSpace(name) || /[~^:?*[\\]/.test(name);
}

function hasControlOrSpace(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  return /[\u0000-\u0020\u007f]/.test(text);
}
