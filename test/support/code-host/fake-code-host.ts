/** A code-hosting provider in memory, at a public name: it renews tokens, revokes them, and fails as a test wants. */
import type { CodeHost } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { ProviderTokens } from '../../../src/model/provider.ts';

/** Begins every token that the provider hands out. */
export const TOKEN = 'canary-token';

export class FakeCodeHost implements CodeHost {
  readonly name = 'github';
  readonly url = 'https://github.com';
  readonly apiUrl = 'https://api.github.com';
  readonly apiRoot = 'https://api.github.com';
  readonly gitUsername = 'x-access-token';
  readonly tokenVariable = 'GITHUB_TOKEN';
  readonly mode = 'app';
  readonly scope = null;
  readonly installUrl = null;
  /** Lifetime of the tokens of a renewal. */
  tokenMs = 8 * 3_600_000;
  /** How a renewal ends, where it does not succeed. */
  refreshing: 'rejected' | 'unavailable' | null = null;
  refreshes = 0;
  readonly revoked: string[] = [];
  readonly #now: () => number;
  #made = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns tokens that nobody had before. */
  tokens(lifetimeMs: number | null = this.tokenMs): ProviderTokens {
    const number = ++this.#made;
    return {
      accessToken: `${TOKEN}-${number}`,
      accessExpiresAt: lifetimeMs === null ? null : this.#now() + lifetimeMs,
      refreshToken: lifetimeMs === null ? null : `${TOKEN}-refresh-${number}`,
      refreshExpiresAt: null,
      scopes: [],
    };
  }

  async refresh(): Promise<ProviderTokens | null> {
    this.refreshes++;
    if (this.refreshing === 'unavailable') {
      throw new SandhavenError('unavailable', 'The service cannot reach github.com.');
    }
    return this.refreshing === 'rejected' ? null : this.tokens();
  }

  async revoke(accessToken: string): Promise<boolean> {
    this.revoked.push(accessToken);
    return true;
  }

  repositoryOf = neverAsked;
  authorizationUrl = () => `${this.url}/login/oauth/authorize`;
  exchange = async () => this.tokens();
  account = async () => ({ id: '1', login: 'ada' });
  startDevice = neverAsked;
  pollDevice = neverAsked;
  visibility = async () => ({ kind: 'revoked' as const });
  installationToken = neverAsked;
  forgetInstallation = neverAsked;
}

function neverAsked(): never {
  throw new Error('this is never asked for');
}
