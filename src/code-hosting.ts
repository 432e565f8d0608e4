/** Puts the code-hosting provider together: its client, what users allow there, and what that opens for Git. */
import type { Clock, CodeHost, Log, Store } from './control/ports.ts';
import { AuthorizationService } from './control/provider/authorizations.ts';
import { ProviderRemotes } from './control/provider/remotes.ts';
import { UserTokens } from './control/provider/tokens.ts';
import { type AllowedRemote, remoteAt } from './model/allowed-remotes.ts';
import type { ProviderOptions } from './model/provider-options.ts';

export interface CodeHosting {
  authorizations: AuthorizationService | null;
  remotes: ProviderRemotes | null;
  /** Where the service may connect to on its behalf, public or not: the operator named it. */
  allowed: AllowedRemote[];
}

/** Loaded where there is one, so that a service without it does not carry its parts. */
export async function openCodeHost(options: ProviderOptions | null, clock: Clock): Promise<CodeHost | null> {
  if (options === null) return null;
  const { openGitHub } = await import('./provider/github/open.ts');
  return openGitHub(options, clock);
}

export function wireCodeHosting(
  host: CodeHost | null,
  { authorizations: store }: Store,
  { clock, log }: { clock: Clock; log: Log },
): CodeHosting {
  if (host === null) return { authorizations: null, remotes: null, allowed: [] };
  const parts = { store, host, clock, log };
  const authorizations = new AuthorizationService(parts);
  const remotes = new ProviderRemotes(authorizations, new UserTokens(parts));
  return { authorizations, remotes, allowed: [remoteAt(host.url)] };
}
