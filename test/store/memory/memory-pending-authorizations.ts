/** Authorizations under way at the provider, in the plainest way there is. */
import type { BrowserFlow, DeviceFlow, Store } from '../../../src/control/ports/index.ts';
import { limits } from '../../../src/model/limits.ts';
import type { AuthorizationOutcome } from '../../../src/model/provider.ts';

type Flow = (BrowserFlow | DeviceFlow) & { used: boolean; outcome: AuthorizationOutcome | null };

export function memoryPendingAuthorizations({
  users,
}: Pick<Store, 'users'>): Pick<Store, 'pendingAuthorizations'> {
  /** Oldest first. */
  let flows: Flow[] = [];
  const { outcomeMs, pendingPerUser, pending } = limits.provider;
  const add = (flow: BrowserFlow | DeviceFlow) => {
    flows = flows.filter(({ expiresAt }) => expiresAt > flow.createdAt - outcomeMs);
    const own = flows.filter(({ userId }) => userId === flow.userId);
    if (own.length >= pendingPerUser) flows.splice(flows.indexOf(own[0] as Flow), 1);
    if (flows.length >= pending) flows.shift();
    flows.push({ ...flow, used: false, outcome: null });
  };
  const ofState = (state: string, provider: string, now: number) =>
    flows.find(
      (flow): flow is Flow & BrowserFlow =>
        'state' in flow &&
        flow.state === state &&
        !flow.used &&
        flow.outcome === null &&
        flow.provider === provider &&
        flow.expiresAt > now,
    );
  const userWith = async (id: string) => {
    const found = await users.findUser(id);
    return found && { id: found.id, name: found.name, email: found.email };
  };
  const device = (id: string) =>
    flows.find((flow): flow is Flow & DeviceFlow => 'deviceCode' in flow && flow.id === id);
  return {
    pendingAuthorizations: {
      addBrowser: async (flow, freshUntil) => {
        const known = flows.find(
          (other): other is Flow & BrowserFlow =>
            'state' in other &&
            other.userId === flow.userId &&
            other.provider === flow.provider &&
            !other.used &&
            other.outcome === null &&
            other.expiresAt >= freshUntil,
        );
        if (!known) add(flow);
        const { used: _used, outcome: _outcome, ...rest } = known ?? { ...flow, used: false, outcome: null };
        return rest;
      },
      addDevice: async (flow) => add(flow),
      progress: async ({ id, userId, provider }, now) => {
        const found = flows.find(
          (flow) => flow.id === id && flow.userId === userId && flow.provider === provider,
        );
        if (!found || found.expiresAt <= now - outcomeMs) return null;
        const polls =
          'deviceCode' in found ? { intervalMs: found.intervalMs, nextPollAt: found.nextPollAt } : null;
        return { expiresAt: found.expiresAt, polls, outcome: structuredClone(found.outcome) };
      },
      userOf: async (...wanted) => {
        const found = ofState(...wanted);
        return found ? userWith(found.userId) : null;
      },
      take: async (...wanted) => {
        const found = ofState(...wanted);
        if (!found) return null;
        found.used = true;
        const user = await userWith(found.userId);
        return user && { id: found.id, user, verifier: found.verifier };
      },
      claimPoll: async (id, seen, until) => {
        const found = device(id);
        if (!found || found.outcome !== null || found.nextPollAt !== seen) return null;
        found.nextPollAt = until;
        return found.deviceCode;
      },
      endPoll: async (id, claimed, next) => {
        const found = device(id);
        if (found?.nextPollAt === claimed) Object.assign(found, next);
      },
      decide: async (id, outcome) => {
        const found = flows.find((flow) => flow.id === id);
        if (found) found.outcome ??= structuredClone(outcome);
      },
    },
  };
}
