/**
 * Store of the authorizations that are under way at the code-hosting provider, which all replicas share. They live for
 * minutes. Times are milliseconds since the epoch, by the clocks of the replicas.
 */
import type { AuthorizationOutcome } from '../../../model/provider.ts';
import type { User } from '../../../model/user.ts';

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
 * `add…` forgets flows that expired `limits.provider.outcomeMs` before, and the oldest ones above
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
