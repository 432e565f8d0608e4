/** Opens the identity provider from the operator's options, with its secret read from a file. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import type { Clock, IdentityProvider, Log } from '../control/ports/index.ts';
import type { IdentityOptions } from '../model/access/identity-options.ts';
import { SandhavenError } from '../model/errors.ts';
import { createOpenIdProvider } from './openid.ts';

const FLAG = '--oidc-client-secret-file';

/** Asks the provider nothing yet. Throws `failed_precondition` for a secret that is unreadable or readable by others. */
export function openIdentityProvider(options: IdentityOptions, clock: Clock, log: Log): IdentityProvider {
  return createOpenIdProvider({ options, clientSecret: readSecret(options.clientSecretFile), clock, log });
}

function readSecret(file: string): string {
  let secret = '';
  try {
    const stat = statSync(file);
    if (!isPrivate(stat)) throw readable(file);
    if (stat.size <= 4_096) secret = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if (cause instanceof SandhavenError) throw cause;
    throw unreadable(file, cause);
  }
  if (secret === '') throw unreadable(file, null);
  return secret;
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

function unreadable(file: string, cause: unknown): SandhavenError {
  const fields = { parameter: FLAG, hint: `Check ${file}: it holds the client secret, and nothing else.` };
  return new SandhavenError(
    'failed_precondition',
    `The file of ${FLAG} has no secret to read.`,
    fields,
    cause,
  );
}

function readable(file: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The file of ${FLAG} can be read by other users.`, {
    parameter: FLAG,
    hint: `Run: chmod 600 ${file}`,
  });
}
