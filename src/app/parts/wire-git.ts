/** Wires Git, and users' authorizations at the code-hosting provider. */
import { HeldKeys } from '../../control/base/held-keys.ts';
import { GitService } from '../../control/git/git-service.ts';
import type { AgentLink, Clock, CodeHost, Log, Store } from '../../control/ports/index.ts';
import { AuthorizationService } from '../../control/provider/authorizations.ts';
import type { AuthorizationUses } from '../../control/provider/device-polls.ts';
import { ProviderRemotes } from '../../control/provider/remotes.ts';
import { UserTokens } from '../../control/provider/tokens.ts';
import type { Environments } from '../../control/reach/environment.ts';
import type { SandboxUses } from '../../control/work/sandbox-uses.ts';
import { createGitGateway } from '../../gateways/git/gateway.ts';
import { type AllowedHost, targetOf } from '../../model/network/allowed-hosts.ts';
import type { Exit } from '../../outbound/exit.ts';

export interface GitDependencies {
  provider: Provider | null;
  store: Store;
  uses: SandboxUses;
  agent: AgentLink;
  environments: Environments;
  /** Non-public remotes that may receive credentials. */
  allowed: AllowedHost[];
  exit: Exit;
}

export function wireGit(parts: GitDependencies): {
  git: GitService;
  authorizations: AuthorizationService | null;
} {
  const { provider, store, uses, agent, environments, allowed, exit } = parts;
  const held = new HeldKeys(store.idempotency, store.replicas);
  const common = { uses, agent, environments, held, credentials: store.gitCredentials };
  if (provider === null) {
    const gateway = createGitGateway({ exit, allowed });
    return { git: new GitService({ ...common, gateway, provider: null }), authorizations: null };
  }
  const { host, authorizations, tokens } = provider;
  const remotes = new ProviderRemotes(authorizations, tokens);
  // The operator chose the provider, so it may have any address.
  const gateway = createGitGateway({ exit, allowed: [...allowed, targetOf(new URL(host.url))] });
  return { git: new GitService({ ...common, gateway, provider: remotes }), authorizations };
}

interface ProviderParts {
  host: CodeHost | null;
  store: Pick<Store, 'authorizations' | 'pendingAuthorizations' | 'replicas'>;
  /** Asked once they are made, which needs the authorizations; null where there are none. */
  uses(): AuthorizationUses | null;
  clock: Clock;
  log: Log;
}

export interface Provider {
  host: CodeHost;
  authorizations: AuthorizationService;
  tokens: UserTokens;
}

/** Returns null without a provider. */
export function wireProvider({ host, store, uses, clock, log }: ProviderParts): Provider | null {
  if (host === null) return null;
  const made: AuthorizationUses = {
    changed: (userId) => uses()?.changed(userId),
    ended: async (userId) => uses()?.ended(userId),
  };
  const shared = { store: store.authorizations, host, uses: made, clock, log };
  return {
    host,
    authorizations: new AuthorizationService({ ...shared, pending: store.pendingAuthorizations }),
    tokens: new UserTokens({ ...shared, replicas: store.replicas }),
  };
}
