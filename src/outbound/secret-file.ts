/** Files in which the operator keeps secrets for other services: those of providers, and the credentials of a bucket. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

/**
 * Returns the text of the file without blanks around it. Throws `failed_precondition`, with the next step for the operator, for
 * one that is missing, empty, too large or readable by other users. No error holds a word of it.
 * @param flag Names the file, as `--github-client-secret-file`.
 */
export function readSecretFile(flag: string, file: string): string {
  let text = '';
  try {
    const stat = statSync(file);
    if (!isPrivate(stat)) throw refused(flag, 'can be read by other users', `Run: chmod 600 ${file}`);
    if (stat.size > limits.secretFileBytes) throw new Error('it is too large');
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if (cause instanceof SandhavenError) throw cause;
    throw refused(flag, 'cannot be read', `Check ${file}.`, cause);
  }
  if (text === '') throw refused(flag, 'is empty', `Write the secret to ${file}.`);
  return text;
}

/**
 * Returns true where no other user reads the file. A Secret that Kubernetes mounts is root's, and its group's to read: the
 * service, which is not root there, has no other way to it.
 */
function isPrivate({ mode, uid, gid }: Stats): boolean {
  const own = process.geteuid?.() ?? 0;
  const byGroup = own !== 0 && uid === 0 && process.getgroups?.().includes(gid);
  return (mode & (byGroup ? 0o037 : 0o077)) === 0;
}

function refused(flag: string, what: string, hint: string, cause?: unknown): SandhavenError {
  const fields = { parameter: flag, hint };
  return new SandhavenError('failed_precondition', `The file of ${flag} ${what}.`, fields, cause);
}
