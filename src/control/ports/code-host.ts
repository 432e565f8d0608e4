/**
 * The code-hosting provider: OAuth, its API, and its app. Every answer has been bounded and validated. Stores of what users
 * have authorized there, and of what is under way.
 */
import type {
  Authorization,
  AuthorizationOutcome,
  ProviderAccount,
  ProviderMode,
  ProviderName,
  ProviderTokens,
  RepositoryName,
} from '../../model/provider.ts';
import type { User } from '../../model/user.ts';

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
export type RepositoryVisibility =
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
  readonly name: ProviderName;
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** Base URL of its API, without a slash at its end. */
  readonly apiUrl: string;
  /** Base URL of all that belongs to its API; tokens of users go there and to Git. */
  readonly apiRoot: string;
  /** User name beside a token, for Git over HTTP. */
  readonly gitUsername: string;
  /** Variable in which its clients look for a token. */
  readonly tokenVariable: string;
  readonly mode: ProviderMode;
  /** Scope of the authorization; null in the mode of an app, whose permissions are its installation's. */
  readonly scope: string | null;
  /** Page to install an app at more repositories; null without one. */
  readonly installUrl: string | null;
  /** Returns null when the path of a remote is not that of a repository. */
  repositoryOf(path: string): RepositoryName | null;
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
  visibility(accessToken: string, repository: RepositoryName): Promise<RepositoryVisibility>;
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

interface Flow {
  id: string;
  userId: string;
  /** The provider's base URL: a code of one provider is never sent to another. */
  provider: string;
  createdAt: number;
  expiresAt: number;
}

/** By a redirect of the user's browser. */
export interface BrowserFlow extends Flow {
  /** Leads to the flow once. Stored sealed and as SHA-256. */
  state: string;
  /** PKCE verifier, stored sealed; only its hash leaves the service before the code is exchanged. */
  verifier: string;
}

/** By a code that the user enters at the provider. */
export interface DeviceFlow extends Flow {
  /** Stored sealed: gives its holder the tokens. */
  deviceCode: string;
  intervalMs: number;
  /** Time of the next request to the provider. */
  nextPollAt: number;
}

export type Polls = Pick<DeviceFlow, 'intervalMs' | 'nextPollAt'>;

export interface FlowProgress {
  expiresAt: number;
  /** null for a browser. */
  polls: Polls | null;
  /** null: not decided yet. */
  outcome: AuthorizationOutcome | null;
}

/**
 * Authorizations that are under way at the provider, which all replicas share. They live for minutes. Times are milliseconds
 * since the epoch, by the clocks of the replicas. `add…` forgets flows that expired `limits.provider.outcomeMs` before, and the oldest ones above
 * `limits.provider.pendingPerUser` of the user and `limits.provider.pending` in total. Secrets are encrypted at rest, and
 * gone once the flow is decided.
 */
export interface PendingAuthorizationStore {
  /**
   * Returns the user's flow at this provider whose state is unused and that expires at `freshUntil` or later; adds `flow`
   * and returns it when there is none. Simultaneous calls of one user return the same flow.
   */
  addBrowser(flow: BrowserFlow, freshUntil: number): Promise<BrowserFlow>;
  addDevice(flow: DeviceFlow): Promise<void>;
  /** Returns null for a flow of another user or provider, or one that expired `limits.provider.outcomeMs` before `now`. */
  progress(of: Pick<Flow, 'id' | 'userId' | 'provider'>, now: number): Promise<FlowProgress | null>;
  /** Returns the user who began the flow of this state; null for a state that is unknown, used, or expired by `now`. */
  userOf(state: string, provider: string, now: number): Promise<User | null>;
  /** Like `userOf`, and uses the state up: of simultaneous calls one gets the flow. */
  take(state: string, provider: string, now: number): Promise<TakenFlow | null>;
  /**
   * Takes the turn to poll until `until`, if the next poll is still due at `seen`, and the flow is undecided. Returns the
   * device code; null when another has taken the turn.
   */
  claimPoll(id: string, seen: number, until: number): Promise<string | null>;
  /** Ends the turn that lasts until `claimed`; changes nothing when it was lost meanwhile. */
  endPoll(id: string, claimed: number, next: Polls & Pick<Flow, 'expiresAt'>): Promise<void>;
  /** Stores the outcome; the first one stays. */
  decide(id: string, outcome: AuthorizationOutcome): Promise<void>;
}

export interface TakenFlow {
  id: string;
  user: User;
  verifier: string;
}
