/** Errors for remotes at the provider that cannot be used; each names what is missing, in the provider's terms. */
import { SandhavenError } from '../../model/errors.ts';
import type { Authorization } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { CodeHost, ContentsAccess, GitPurpose, RepositoryVisibility } from '../ports/index.ts';
import type { AuthorizationService } from './authorizations.ts';

export class ProviderRefusals {
  readonly #authorizations: AuthorizationService;
  readonly #host: CodeHost;
  readonly #name: string;

  constructor(authorizations: AuthorizationService) {
    this.#authorizations = authorizations;
    this.#host = authorizations.host;
    this.#name = new URL(this.#host.url).host;
  }

  async notAuthorized(user: User): Promise<SandhavenError> {
    const { url } = await this.#authorizations.startBrowser(user);
    return new SandhavenError(
      'authorization_required',
      `${this.#name} requires authentication, and you have no valid authorization for Sandhaven there.`,
      {
        authorization_url: url,
        hint:
          `Ask the user to open authorization_url in a browser, or to run \`sandhaven auth ${this.#host.name}\`; ` +
          'then call this again. It is needed once.',
      },
    );
  }

  renewedMeanwhile(): SandhavenError {
    return new SandhavenError('unavailable', `Your token at ${this.#name} was renewed while this ran.`, {
      hint: 'Call this again.',
    });
  }

  /** Returns null when the visibility permits the operation. */
  ofVisibility(
    visibility: RepositoryVisibility,
    { account }: Authorization,
    purpose: GitPurpose,
  ): SandhavenError | null {
    const pushes = purpose.service === 'git-receive-pack';
    switch (visibility.kind) {
      case 'sign-on':
        return this.#denied(
          `The organization wants single sign-on (SAML) of ${account.login} before it lets anything in.`,
          visibility.url === null
            ? `Sign on to the organization at ${this.#name}, then authorize again: sandhaven auth ${this.#host.name}.`
            : `Ask the user to sign on at ${visibility.url}, then call this again.`,
        );
      case 'moved':
        return new SandhavenError(
          'failed_precondition',
          `The repository has another name at ${this.#name} now.`,
          {
            parameter: 'url',
            hint: `Look it up at ${this.#name}, and use the URL that it has now.`,
          },
        );
      case 'hidden':
        return this.#lacksScope(visibility.scopes) ? this.#withoutScope() : this.#hidden(account.login);
      case 'seen':
        if (this.#lacksScope(visibility.scopes) && (visibility.isPrivate || pushes))
          return this.#withoutScope();
        if (!pushes || visibility.mayPush) return null;
        return this.#denied(
          `${account.login} may read this repository but not push to it: the permission contents: write is missing.`,
          'Ask its owner for write access, or push to a fork.',
        );
      case 'revoked':
        return null;
    }
  }

  /** Returns the error of a refusal although the token is valid and the repository visible. */
  ofPolicy({ account }: Authorization, purpose: GitPurpose): SandhavenError {
    const doing = purpose.service === 'git-receive-pack' ? 'push to' : 'read';
    const wanted = purpose.service === 'git-receive-pack' ? 'write' : 'read';
    return this.#denied(
      `${this.#name} does not let Sandhaven ${doing} this repository for ${account.login} (contents: ${wanted}).`,
      'A rule of the organization may be in the way: the approval of the app, or a list of allowed addresses.',
    );
  }

  noRepository({ account }: Authorization): SandhavenError {
    return this.#hidden(account.login);
  }

  notInstalled({ account }: Authorization): SandhavenError {
    const { installUrl } = this.#host;
    return new SandhavenError(
      'authorization_required',
      `${this.#name} shows no such repository to ${account.login}, or the app of this service is not installed at it.`,
      {
        ...(installUrl === null ? {} : { authorization_url: installUrl }),
        hint: 'Check the URL. If it is right, ask an owner of the repository to install the app at authorization_url.',
      },
    );
  }

  appLacks(contents: ContentsAccess): SandhavenError {
    return this.#denied(
      `The app of this service lacks the permission contents: ${contents} at this repository.`,
      `Ask the owner to give the installation contents: ${contents === 'write' ? 'read and write' : 'read'}, ` +
        'or to lift its suspension.',
    );
  }

  #hidden(login: string): SandhavenError {
    return new SandhavenError('not_found', `${this.#name} shows no such repository to ${login}.`, {
      resource: 'repository',
      parameter: 'url',
      hint: `Check the URL, and that ${login} may see it; an organization may have to approve Sandhaven first.`,
    });
  }

  #lacksScope(scopes: string[] | null): boolean {
    return this.#host.scope !== null && scopes !== null && !scopes.includes(this.#host.scope);
  }

  #withoutScope(): SandhavenError {
    const { scope, name } = this.#host;
    return this.#denied(
      `Your authorization at ${this.#name} lacks the scope ${scope}.`,
      `Authorize again: sandhaven auth ${name}.`,
    );
  }

  #denied(detail: string, hint: string): SandhavenError {
    return new SandhavenError('permission_denied', detail, { hint });
  }
}
