/**
 * Remotes at the code-hosting provider: a user's access to them, and the meaning of their refusals. A public repository
 * needs no authorization, so the service requires one only after the provider's refusal.
 */
import type { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';
import type { Authorization, RepositoryName } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { CodeHost, GitAccess, GitPurpose } from '../ports/index.ts';
import type { AuthorizationService } from './authorizations.ts';
import { ProviderRefusals } from './refusals.ts';
import type { UserTokens } from './tokens.ts';

const usualPorts = { http: 80, https: 443 };

export class ProviderRemotes {
  readonly #host: CodeHost;
  readonly #tokens: UserTokens;
  readonly #refusals: ProviderRefusals;

  constructor(authorizations: AuthorizationService, tokens: UserTokens) {
    this.#host = authorizations.host;
    this.#tokens = tokens;
    this.#refusals = new ProviderRefusals(authorizations);
  }

  /** Returns true for a remote at the provider; its username and password parameters are ignored, over any protocol. */
  owns(url: GitUrl): boolean {
    return url.host === new URL(this.#host.url).hostname.toLowerCase() && this.#isItsPort(url);
  }

  /** null for a remote of another host, or over another protocol than the provider's own. */
  async access(user: User, url: GitUrl, purpose: GitPurpose): Promise<GitAccess | null> {
    if (!this.owns(url) || `${url.scheme}:` !== new URL(this.#host.url).protocol) return null;
    const authorization = await this.#tokens.current(user);
    if (!authorization) return this.#asAnybody(() => this.#refusals.notAuthorized(user));
    const repository = this.#host.repositoryOf(url.path);
    if (this.#host.mode === 'oauth') return this.#asUser(user, authorization, repository, purpose);
    if (!repository) throw this.#refusals.noRepository(authorization);
    return this.#asApp(user, authorization, repository, purpose);
  }

  #asAnybody(refused: () => SandhavenError | Promise<SandhavenError>): GitAccess {
    return { login: null, explain: async () => refused() };
  }

  #asUser(
    user: User,
    authorization: Authorization,
    repository: RepositoryName | null,
    purpose: GitPurpose,
  ): GitAccess {
    const { accessToken } = authorization.tokens;
    return {
      login: { username: this.#host.gitUsername, password: accessToken },
      explain: async () => {
        if (!repository) return this.#refusals.noRepository(authorization);
        const visibility = await this.#host.visibility(accessToken, repository);
        if (visibility.kind === 'revoked') return this.#ended(user, authorization);
        return (
          this.#refusals.ofVisibility(visibility, authorization, purpose) ??
          this.#refusals.ofPolicy(authorization, purpose)
        );
      },
    };
  }

  /**
   * Returns the app's access after a check of the user's own: the user must see the repository, and push only with
   * permission. An installation by itself opens its repositories to no user.
   */
  async #asApp(
    user: User,
    authorization: Authorization,
    repository: RepositoryName,
    purpose: GitPurpose,
  ): Promise<GitAccess> {
    const visibility = await this.#host.visibility(authorization.tokens.accessToken, repository);
    if (visibility.kind === 'revoked') throw await this.#ended(user, authorization);
    if (visibility.kind === 'hidden') throw this.#refusals.notInstalled(authorization);
    const refusal = this.#refusals.ofVisibility(visibility, authorization, purpose);
    if (refusal) throw refusal;
    const isPublic = visibility.kind === 'seen' && !visibility.isPrivate;
    const reads = purpose.service === 'git-upload-pack';
    const made = await this.#host.installationToken(repository, reads ? 'read' : 'write');
    if (made.kind !== 'token' && isPublic && reads) {
      return this.#asAnybody(() => this.#refusals.notInstalled(authorization));
    }
    if (made.kind === 'not-installed') throw this.#refusals.notInstalled(authorization);
    if (made.kind === 'not-permitted') throw this.#refusals.appLacks(reads ? 'read' : 'write');
    return {
      login: { username: this.#host.gitUsername, password: made.token },
      explain: async () => {
        this.#host.forgetInstallation(repository);
        return this.#refusals.ofPolicy(authorization, purpose);
      },
    };
  }

  async #ended(user: User, authorization: Authorization): Promise<SandhavenError> {
    return (await this.#tokens.ended(authorization))
      ? this.#refusals.notAuthorized(user)
      : this.#refusals.renewedMeanwhile();
  }

  #isItsPort({ scheme, port }: GitUrl): boolean {
    if (scheme !== 'http' && scheme !== 'https') return true;
    const own = new URL(this.#host.url);
    if (port === null && own.port === '') return true;
    return (
      (port ?? usualPorts[scheme]) ===
      Number(own.port || usualPorts[own.protocol === 'http:' ? 'http' : 'https'])
    );
  }
}
