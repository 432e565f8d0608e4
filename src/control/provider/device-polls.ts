/**
 * Polls the provider for flows by device code. One replica has the turn of a flow at a time: it takes the turn by moving
 * the time of the next poll, and gives it back with the time that the interval demands. A replica that is gone keeps the
 * turn for a bounded time.
 */
import { newAuthorizationId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { AuthorizationOutcome, ProviderTokens } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type {
  AuthorizationStore,
  Clock,
  CodeHost,
  DeviceAnswer,
  FlowProgress,
  Log,
  PendingAuthorizationStore,
  Polls,
} from '../ports/index.ts';

export interface DevicePollsDependencies extends GrantDependencies {
  pending: PendingAuthorizationStore;
}

type Undecided = Pick<FlowProgress, 'expiresAt' | 'outcome'> & { polls: Polls };

export class DevicePolls {
  readonly #parts: DevicePollsDependencies;

  constructor(parts: DevicePollsDependencies) {
    this.#parts = parts;
  }

  /**
   * Asks the provider when a poll is due and no replica has the turn. Returns the progress afterwards. Rejects like
   * `CodeHost.pollDevice`.
   * @param flow As it was read just now: undecided and not expired.
   */
  async poll(user: User, id: string, flow: Undecided): Promise<FlowProgress> {
    const { host, pending, clock } = this.#parts;
    const { intervalMs, nextPollAt } = flow.polls;
    const now = clock.now();
    if (now < nextPollAt) return flow;
    // Includes the interval: a poll that follows a lost replica's must not be early.
    const claimed = now + intervalMs + limits.provider.pollTurnMs;
    const deviceCode = await pending.claimPoll(id, nextPollAt, claimed);
    if (deviceCode === null) return flow;
    let after: FlowProgress = flow;
    try {
      after = await this.#progressOf(user, flow, await host.pollDevice(deviceCode));
    } finally {
      if (after.outcome) await pending.decide(id, after.outcome);
      else await pending.endPoll(id, claimed, this.#next(after, intervalMs));
    }
    return after;
  }

  async #progressOf(user: User, flow: Undecided, answer: DeviceAnswer): Promise<FlowProgress> {
    switch (answer.status) {
      case 'granted':
        return { ...flow, outcome: await storeGranted(this.#parts, user, answer.tokens) };
      case 'denied':
        return {
          ...flow,
          outcome: { status: 'denied', reason: 'The authorization was denied at the provider.' },
        };
      case 'expired':
        return { ...flow, expiresAt: this.#parts.clock.now() };
      case 'pending':
        return { ...flow, polls: slowedDown(flow.polls, answer) };
    }
  }

  #next({ expiresAt, polls }: FlowProgress, usualMs: number): Polls & { expiresAt: number } {
    const intervalMs = polls?.intervalMs ?? usualMs;
    return { expiresAt, intervalMs, nextPollAt: this.#parts.clock.now() + intervalMs };
  }
}

/** The interval never falls again (RFC 8628, section 3.5). */
function slowedDown(
  polls: Polls,
  { slowDown, intervalMs }: { slowDown: boolean; intervalMs: number | null },
): Polls {
  if (!slowDown) return polls;
  const { slowDownMs, deviceIntervalMs } = limits.provider;
  const asked = intervalMs ?? polls.intervalMs + slowDownMs;
  return { ...polls, intervalMs: Math.min(Math.max(asked, polls.intervalMs), deviceIntervalMs.max) };
}

export interface GrantDependencies {
  host: CodeHost;
  store: AuthorizationStore;
  uses: AuthorizationUses;
  clock: Clock;
  log: Log;
}

/** Stores the tokens that the provider granted, if they suffice. Replaces the user's earlier authorization. Rejects like `CodeHost.account`. */
export async function storeGranted(
  { host, store, uses, clock, log }: GrantDependencies,
  user: User,
  tokens: ProviderTokens,
): Promise<AuthorizationOutcome> {
  const { scope, url } = host;
  if (scope !== null && !tokens.scopes.includes(scope)) {
    return { status: 'denied', reason: `The scope ${scope} was not granted, and Sandhaven requires it.` };
  }
  const account = await host.account(tokens.accessToken);
  if (!account) return { status: 'denied', reason: 'The provider rejects the token that it issued.' };
  const now = clock.now();
  const times = { createdAt: now, updatedAt: now };
  await store.put({ id: newAuthorizationId(), userId: user.id, provider: url, account, tokens, ...times });
  uses.changed(user.id);
  log.info('a user authorized the service at the provider', { user: user.id });
  return { status: 'authorized', account };
}

/**
 * Uses of authorizations that last longer than one operation: those that requests of running sandboxes carry. Hears
 * of changes once the store has them.
 */
export interface AuthorizationUses {
  /** The authorization of a user is another one, or none. Does not wait, since the caller may hold a sandbox's turn. */
  changed(userId: string): void;
  /** Resolves when nothing carries what the user had. Rejects with `unavailable` where that failed, and is repeated. */
  ended(userId: string): Promise<void>;
}
