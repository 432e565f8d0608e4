/** Opens the provider from the operator's options, with its secrets read from their files. */
import { readFileSync, statSync } from 'node:fs';
import type { Clock, CodeHost } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { ProviderOptions } from '../../model/provider-options.ts';
import { createGitHub } from './github.ts';

/** Rejects a secret that is unreadable, readable by others, or invalid with `failed_precondition`. */
export function openGitHub(options: ProviderOptions, clock: Clock): CodeHost {
  const { app, clientSecret, ...rest } = options;
  const secret =
    'value' in clientSecret
      ? clientSecret.value
      : readSecret('--github-client-secret-file', clientSecret.file);
  return createGitHub(
    {
      ...rest,
      clientSecret: secret,
      app: app && {
        id: app.id,
        slug: app.slug,
        privateKeyPem: readSecret('--github-app-private-key-file', app.privateKeyFile),
      },
    },
    clock,
  );
}

function readSecret(flag: string, file: string): string {
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
