/** Secrets of a provider that the operator keeps in files. */
import { readFileSync, statSync } from 'node:fs';
import { SandhavenError } from '../model/errors.ts';
import type { ProviderOptions } from '../model/provider-options.ts';

/** Rejects a secret that is unreadable or readable by others with `failed_precondition`. */
export function clientSecretOf({ name, clientSecret }: ProviderOptions): string {
  return 'value' in clientSecret
    ? clientSecret.value
    : readSecret(`--${name}-client-secret-file`, clientSecret.file);
}

/** Rejects like `clientSecretOf`. */
export function readSecret(flag: string, file: string): string {
  try {
    if ((statSync(file).mode & 0o077) === 0) return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new SandhavenError(
      'failed_precondition',
      `The file of ${flag} cannot be read.`,
      { parameter: flag, hint: `Check ${file}.` },
      error,
    );
  }
  throw new SandhavenError('failed_precondition', `The file of ${flag} can be read by other users.`, {
    parameter: flag,
    hint: `Run: chmod 600 ${file}`,
  });
}
