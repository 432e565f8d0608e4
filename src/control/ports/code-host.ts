/** The code-hosting provider: OAuth, its API, and its app. Every answer has been bounded and validated. */
import type {
  Authorization,
  ProviderAccount,
  ProviderMode,
  ProviderTokens,
  RepositoryName,
} from '../../model/provider.ts';

export interface DeviceCode {
  /** A secret: whoever has it gets the tokens. */
  deviceCode: string;
  /** What the user types at `verificationUrl`. */
  userCode: string;
  verificationUrl: string;
  expiresInMs: number;
  intervalMs: number;
}

export type DeviceAnswer =
  | { status: 'granted'; tokens: ProviderTokens }
  /** `intervalMs`: what to wait from now on; null: as before. */
  | { status: 'pending'; slowDown: boolean; intervalMs: number | null }
  | { status: 'denied' }
  | { status: 'expired' };

/** What the provider lets a token see of a repository; `scopes` are the token's, where they are told. */
export type Sight =
  | { kind: 'revoked' }
  /** The organization wants single sign-on first, at `url` where the provider names one. */
  | { kind: 'sign-on'; url: string | null }
  /** Not there, or not for this token. */
  | { kind: 'hidden'; scopes: string[] | null }
  /** It has another name now. */
  | { kind: 'moved' }
  | { kind: 'seen'; isPrivate: boolean; mayPush: boolean; scopes: string[] | null };

export type ContentsAccess = 'read' | 'write';

export type InstallationToken =
  | { kind: 'token'; token: string; expiresAt: number }
  | { kind: 'not-installed' }
  /** The installation has not been given this permission, or is suspended. */
  | { kind: 'not-permitted' };

/** Every method fails with `unavailable`, `timeout` or `failed_precondition` when the provider does not answer as one. */
export interface CodeHost {
  /** Its name in routes and results. */
  readonly name: 'github';
  /** Base URL, without a slash at its end. */
  readonly url: string;
  readonly mode: ProviderMode;
  /** What the authorization asks for; null in the mode of an app, whose permissions are its installation's. */
  readonly scope: string | null;
  /** Where an app is installed at more repositories; null without one. */
  readonly installUrl: string | null;
  authorizationUrl(ask: { state: string; challenge: string; redirectUri: string }): string;
  /** null: the provider refuses the code. */
  exchange(ask: { code: string; verifier: string; redirectUri: string }): Promise<ProviderTokens | null>;
  startDevice(): Promise<DeviceCode>;
  pollDevice(deviceCode: string): Promise<DeviceAnswer>;
  /** null: the provider takes this refresh token no more. */
  refresh(refreshToken: string): Promise<ProviderTokens | null>;
  /** null: the token is not valid. */
  account(accessToken: string): Promise<ProviderAccount | null>;
  /** Whether the provider has forgotten the token. */
  revoke(accessToken: string): Promise<boolean>;
  look(accessToken: string, repository: RepositoryName): Promise<Sight>;
  /** For this repository alone, and only in the mode of an app. */
  installationToken(repository: RepositoryName, contents: ContentsAccess): Promise<InstallationToken>;
  /** The next token for this repository is a new one. */
  forgetInstallation(repository: RepositoryName): void;
}

/** Tokens are encrypted at rest. One authorization for each user and provider. */
export interface AuthorizationStore {
  get(userId: string, provider: string): Promise<Authorization | null>;
  list(userId: string): Promise<Authorization[]>;
  /** Takes the place of what is there for this user and provider. */
  put(authorization: Authorization): Promise<void>;
  /** Whether the authorization was still this one; nothing is stored otherwise. */
  renew(id: string, tokens: ProviderTokens, now: number): Promise<boolean>;
  /** Whether it was there. */
  remove(id: string): Promise<boolean>;
}
