/** Opens GitLab from the operator's options, with its secret read from its file. */
import type { Clock, CodeHost } from '../../control/ports/index.ts';
import type { ProviderOptions } from '../../model/provider-options.ts';
import { clientSecretOf } from '../secret-file.ts';
import { createGitLab } from './gitlab.ts';

/** Rejects a secret that is unreadable or readable by others with `failed_precondition`. */
export function open(options: ProviderOptions, clock: Clock): CodeHost {
  const { url, apiUrl, clientId } = options;
  return createGitLab({ url, apiUrl, clientId, clientSecret: clientSecretOf(options) }, clock);
}
