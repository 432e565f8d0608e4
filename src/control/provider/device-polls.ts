/**
 * Polls the provider for flows by device code. One replica has the turn of a flow at a time: it takes the turn by moving
 * the time of the next poll, and gives it back with the time that the interval demands. A replica that is gone keeps the
 * turn for a bounded time.
 */
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type { DeviceAnswer, FlowProgress, PendingAuthorizationStore, Polls } from '../ports/index.ts';
import { type GrantDependencies, storeGranted } from './granted.ts';

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
