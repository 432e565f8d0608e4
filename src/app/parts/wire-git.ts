/** Wires Git: the gateway, and the code-hosting provider with its users' authorizations. */

import { GitService } from '../../control/git/git-service.ts';
import type { AgentLink, Clock, CodeHost, Log, Store } from '../../control/ports/index.ts';
import { AuthorizationService } from '../../control/provider/authorizations.ts';
import { ProviderRemotes } from '../../control/provider/remotes.ts';
import { UserTokens } from '../../control/provider/tokens.ts';
import { HeldKeys } from '../../control/replicas/held-keys.ts';
import type { Environments } from '../../control/work/environment.ts';
import type { Uses } from '../../control/work/use.ts';
import { createGitGateway } from '../../gateways/git/gateway.ts';
import { type AllowedRemote, remoteAt } from '../../model/git/allowed-remotes.ts';

export interface GitDependencies {
  host: CodeHost | null;
  store: Store;
  uses: Uses;
  agent: AgentLink;
  environments: Environments;
  /** Non-public remotes that may receive credentials. */
  allowed: AllowedRemote[];
  clock: Clock;
  log: Log;
}

export function wireGit(parts: GitDependencies): {
  git: GitService;
  authorizations: AuthorizationService | null;
} {
  const { host, store, uses, agent, environments, allowed, clock, log } = parts;
  const held = new HeldKeys(store.idempotency, store.replicas);
  const common = { uses, agent, environments, held, credentials: store.gitCredentials };
  if (host === null) {
    const gateway = createGitGateway({ allowed });
    return { git: new GitService({ ...common, gateway, provider: null }), authorizations: null };
  }
  const shared = { store: store.authorizations, host, clock, log };
  const authorizations = new AuthorizationService({ ...shared, pending: store.pendingAuthorizations });
  const provider = new ProviderRemotes(
    authorizations,
    new UserTokens({ ...shared, replicas: store.replicas }),
  );
  // The operator chose the provider, so it may have any address.
  const gateway = createGitGateway({ allowed: [...allowed, remoteAt(host.url)] });
  return { git: new GitService({ ...common, gateway, provider }), authorizations };
}
