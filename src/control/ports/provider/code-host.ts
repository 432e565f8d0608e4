/** The code-hosting provider: OAuth, its API, and its app. Every answer has been bounded and validated. */
import type {
  Authorization,
  ProviderAccount,
  ProviderMode,
  ProviderTokens,
  RepositoryName,
} from '../../../model/provider.ts';

export interface DeviceCode {
  /** Secret: gives its holder the tokens. */
  deviceCode: string;
  /** Code that the user enters at `verificationUrl`. */
  userCode: string;
  verificationUrl: string;
  expiresInMs: number;
  intervalMs: number;
}

export type DeviceAnswer =
  | { status: 'granted'; tokens: ProviderTokens }
  /** `intervalMs`: the new polling interval; null: unchanged. */
  | { status: 'pending'; slowDown: boolean; intervalMs: number | null }
  | { status: 'denied' }
  | { status: 'expired' };

/** Visibility of a repository for a token; `scopes` are the token's, where the provider names them. */
export type Sight =
  | { kind: 'revoked' }
  /** The organization requires single sign-on first, at `url` where the provider names one. */
  | { kind: 'sign-on'; url: string | null }
  /** Missing, or invisible to this token. */
  | { kind: 'hidden'; scopes: string[] | null }
  /** The repository has been renamed. */
  | { kind: 'moved' }
  | { kind: 'seen'; isPrivate: boolean; mayPush: boolean; scopes: string[] | null };

export type ContentsAccess = 'read' | 'write';

export type InstallationToken =
  | { kind: 'token'; token: string; expiresAt: number }
  | { kind: 'not-installed' }
  /** The installation lacks this permission, or is suspended. */
  | { kind: 'not-permitted' };

/**
 * Every method rejects with `unavailable`, `timeout` or `failed_precondition` when the provider's answer is missing or
 * malformed.
 */
export interface CodeHost {
  /** Name in routes and results. */
  readonly name: 'github';
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** Base URL of its API, without a slash at its end. */
  readonly apiUrl: string;
  readonly mode: ProviderMode;
  /** Scope of the authorization; null in the mode of an app, whose permissions are its installation's. */
  readonly scope: string | null;
  /** Page to install an app at more repositories; null without one. */
  readonly installUrl: string | null;
  authorizationUrl(ask: { state: string; challenge: string; redirectUri: string }): string;
  /** Returns null when the provider rejects the code. */
  exchange(ask: { code: string; verifier: string; redirectUri: string }): Promise<ProviderTokens | null>;
  startDevice(): Promise<DeviceCode>;
  pollDevice(deviceCode: string): Promise<DeviceAnswer>;
  /** Returns null when the provider rejects the refresh token. */
  refresh(refreshToken: string): Promise<ProviderTokens | null>;
  /** Returns null for an invalid token. */
  account(accessToken: string): Promise<ProviderAccount | null>;
  /** Returns true when the provider has revoked the token. */
  revoke(accessToken: string): Promise<boolean>;
  look(accessToken: string, repository: RepositoryName): Promise<Sight>;
  /** Returns a token for this repository alone; only in the mode of an app. */
  installationToken(repository: RepositoryName, contents: ContentsAccess): Promise<InstallationToken>;
  /** Drops the cached token, so that the next one for this repository is new. */
  forgetInstallation(repository: RepositoryName): void;
}

/** Tokens are encrypted at rest. Each user has one authorization at each provider. */
export interface AuthorizationStore {
  get(userId: string, provider: string): Promise<Authorization | null>;
  list(userId: string): Promise<Authorization[]>;
  /** Replaces the authorization of this user and provider. */
  put(authorization: Authorization): Promise<void>;
  /**
   * Takes the turn to renew the authorization, for `forMs` by the store's clock. Returns null when somebody else has the
   * turn, or the authorization was not last updated at `seen`; else the time at which the turn ends, which names it.
   */
  takeRenewal(id: string, seen: number, forMs: number): Promise<number | null>;
  /** Gives a turn back before its end; does nothing when it is over. */
  leaveRenewal(id: string, turn: number): Promise<void>;
  /**
   * Stores new tokens, and ends the turn to renew. Returns false, and stores nothing, when the authorization is gone or
   * another.
   */
  renew(id: string, tokens: ProviderTokens, now: number): Promise<boolean>;
  /** Returns true when it existed. */
  remove(id: string): Promise<boolean>;
}
