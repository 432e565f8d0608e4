/** Webhooks of the model in memory: what the triggers of a database do, by a look at the row before and after. */
import type { SandboxStore, SnapshotStore, Store, WebhookStore } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { newDeliveryId } from '../../../src/model/ids.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import type { Account } from '../../../src/model/user.ts';
import type { Delivery, SentEvent, Webhook, WebhookEvent } from '../../../src/model/webhooks/webhook.ts';

interface Rows {
  sandboxes: Map<string, Sandbox>;
  snapshots: Map<string, Snapshot>;
}

interface Hook extends Webhook {
  secret: string;
  previous: string | null;
}

type WaysIn = Pick<Store, 'keys' | 'signIns' | 'identities'>;

export function memoryWebhooks(rows: Rows, users: { findUser(id: string): Promise<Account | null> }) {
  const hooks = new Map<string, Hook>();
  let deliveries: Delivery[] = [];
  const refusals = new Map<string, number>();

  const isPending = ({ state }: Delivery) => state === 'pending';
  const of = (id: string) => deliveries.filter(({ webhookId }) => webhookId === id);
  const shown = ({ secret: _, previous: __, ...hook }: Hook): Webhook => ({
    ...hook,
    queued: of(hook.id).filter(isPending).length,
  });
  const shownOr = (id: string) => {
    const hook = hooks.get(id);
    return hook ? shown(hook) : null;
  };
  const hears = async (hook: Hook) => {
    if (hook.disabledAt !== null) return false;
    const id = hook.ownerId ?? hook.createdBy;
    if (id.startsWith('team_')) return true;
    const user = await users.findUser(id);
    return user?.disabledAt === null && (hook.ownerId !== null || user.role === 'admin');
  };
  const hearers = async (ownerId: string, type: WebhookEvent) => {
    const found = [...hooks.values()].filter(
      (hook) => (hook.ownerId === ownerId || hook.ownerId === null) && hook.events.includes(type),
    );
    const heard = await Promise.all(found.map(hears));
    return found.filter((_, at) => heard[at]);
  };
  const add = (webhookId: string, type: SentEvent, data: Record<string, unknown>, at: number): Delivery => {
    const delivery: Delivery = {
      ...{ id: newDeliveryId(), webhookId, type, data, createdAt: at, state: 'pending', attempts: 0 },
      ...{ firstAttemptAt: null, lastAttemptAt: null, status: null, error: null, nextAttemptAt: 0 },
    };
    deliveries.push(delivery);
    return delivery;
  };
  const queue = async (ownerId: string, type: WebhookEvent, data: Record<string, unknown>) => {
    for (const hook of await hearers(ownerId, type)) add(hook.id, type, data, Date.now());
  };
  const drop = (id: string, dropped: Delivery[]) => {
    for (const one of dropped) Object.assign(one, { state: 'dropped', nextAttemptAt: null });
    const hook = hooks.get(id);
    if (hook) hook.dropped += dropped.length;
  };

  const webhooks: WebhookStore = {
    insert: async (given, secret) => {
      const all = [...hooks.values()];
      if (all.filter(({ ownerId }) => ownerId === given.ownerId).length >= 10 || all.length >= 100) {
        throw new SandhavenError('resource_exhausted', 'too many webhooks');
      }
      const hook: Hook = {
        ...{ ...given, secret, previous: null, updatedAt: given.createdAt, disabledAt: null, dropped: 0 },
        ...{ disabledReason: null, previousUntil: null, failingSince: null, lastAttemptAt: null },
        ...{ lastStatus: null, lastError: null, queued: 0 },
      };
      hooks.set(given.id, hook);
      return shown(hook);
    },
    list: async (ownerId) => [...hooks.values()].filter((hook) => hook.ownerId === ownerId).map(shown),
    get: async (id) => shownOr(id),
    update: async (id, { url, events, disabledReason }, now) => {
      const hook = hooks.get(id);
      if (!hook) return null;
      Object.assign(hook, { ...(url ? { url } : {}), ...(events ? { events } : {}), updatedAt: now });
      if (disabledReason === null) {
        Object.assign(hook, { disabledAt: null, disabledReason: null, failingSince: null });
      }
      if (typeof disabledReason === 'string') {
        Object.assign(hook, { disabledAt: hook.disabledAt ?? now, disabledReason });
        drop(id, of(id).filter(isPending));
      }
      return shown(hook);
    },
    rotate: async (id, secret, previousUntil, now) => {
      const hook = hooks.get(id);
      if (!hook) return null;
      Object.assign(hook, { previous: hook.secret, secret, previousUntil, updatedAt: now });
      return shown(hook);
    },
    secrets: async (id, now) => {
      const hook = hooks.get(id);
      if (!hook) return [];
      const overlaps = hook.previous !== null && (hook.previousUntil ?? 0) > now;
      return [hook.secret, ...(overlaps && hook.previous !== null ? [hook.previous] : [])];
    },
    remove: async (id) => {
      deliveries = deliveries.filter(({ webhookId }) => webhookId !== id);
      return hooks.delete(id);
    },
    deliveries: async (id) => structuredClone(of(id).toReversed().slice(0, 100)),
    redeliver: async (webhookId, id) => {
      const found = of(webhookId).find((one) => one.id === id && !isPending(one));
      if (!found) return null;
      Object.assign(found, { state: 'pending', nextAttemptAt: 0, attempts: 0, firstAttemptAt: null });
      return structuredClone(found);
    },
    takeTest: async (webhookId, now, until) => {
      if (!hooks.has(webhookId)) return null;
      const test = add(webhookId, 'webhook.test', { webhook_id: webhookId }, now);
      Object.assign(test, { attempts: 1, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: until });
      return structuredClone(test);
    },
    due: async (now) => {
      const found = [...hooks.values()].filter(({ id }) =>
        of(id).some((one) => isPending(one) && (one.nextAttemptAt ?? 0) <= now),
      );
      const heard = await Promise.all(found.map(hears));
      return found.filter((_, at) => heard[at]).map(({ id, ownerId }) => ({ id, ownerId }));
    },
    trim: async (id) => {
      const pending = of(id).filter(isPending);
      drop(id, pending.slice(0, Math.max(0, pending.length - 1_000)));
      const over = of(id).filter((one) => !isPending(one));
      const gone = new Set(over.slice(0, Math.max(0, over.length - 100)));
      deliveries = deliveries.filter((one) => !gone.has(one));
    },
    take: async (id, most, now, until) => {
      const due = of(id).filter((one) => isPending(one) && (one.nextAttemptAt ?? 0) <= now);
      return due.slice(0, most).map((one) => {
        Object.assign(one, {
          ...{ attempts: one.attempts + 1, lastAttemptAt: now, nextAttemptAt: until },
          firstAttemptAt: one.firstAttemptAt ?? now,
        });
        return structuredClone(one);
      });
    },
    settle: async ({ id, webhookId, attempts }, settled, now) => {
      const found = of(webhookId).find((one) => one.id === id && one.attempts === attempts && isPending(one));
      const hook = hooks.get(webhookId);
      if (!found || !hook) return;
      Object.assign(found, settled);
      const failingSince = settled.state === 'delivered' ? null : (hook.failingSince ?? now);
      const { status: lastStatus, error: lastError } = settled;
      Object.assign(hook, { lastAttemptAt: now, lastStatus, lastError, failingSince });
    },
    refused: async (ownerId, quota, now) => {
      const found = await hearers(ownerId, 'quota.refused');
      const key = `${ownerId} ${quota}`;
      if (found.length === 0 || (refusals.get(key) ?? Number.NEGATIVE_INFINITY) > now - 60_000) return;
      refusals.set(key, now);
      for (const { id } of found) add(id, 'quota.refused', { owner_id: ownerId, quota }, now);
    },
  };

  const changedSandbox = async (before: Sandbox | undefined, after: Sandbox | undefined) => {
    const row = after ?? before;
    if (!before || !row || row.ownerId === null || row.operation === 'creating') return;
    const { id, name, ownerId, state } = row;
    const byDeadline = row.stateReason === 'Deleted at its deadline.';
    const reason = !after && row.operation === 'deleting' && !byDeadline ? null : row.stateReason;
    const data = { sandbox_id: id, name, owner_id: ownerId, state: after ? state : 'deleted', reason };
    if (!after) return queue(ownerId, 'sandbox.deleted', data);
    const wasHidden = before.ownerId === null || before.operation === 'creating';
    if (wasHidden && (before.ownerId === null || row.operation === null)) {
      return queue(ownerId, 'sandbox.created', data);
    }
    if (before.ownerId !== ownerId) return queue(ownerId, 'sandbox.given', data);
    if (before.state !== state) return queue(ownerId, `sandbox.${state}`, data);
  };
  const changedSnapshot = async (before: Snapshot | undefined, after: Snapshot | undefined) => {
    const row = after ?? before;
    if (!before || !row) return;
    if (after && after.state === before.state && after.ownerId === before.ownerId) return;
    const { id, name, ownerId } = row;
    const reason = after?.stateReason ?? null;
    const data = { snapshot_id: id, name, owner_id: ownerId, state: after?.state ?? 'deleted', reason };
    if (!after) return queue(ownerId, 'snapshot.deleted', data);
    if (after.ownerId !== before.ownerId) return queue(ownerId, 'snapshot.given', data);
    if (after.state === 'active') return queue(ownerId, 'snapshot.ready', data);
    if (after.state === 'error') return queue(ownerId, 'snapshot.failed', data);
  };

  /** Runs a change and queues its events; a store without webhooks costs nothing. */
  const observed = async <T, Row>(
    table: Map<string, Row>,
    work: () => Promise<T>,
    changed: (before: Row | undefined, after: Row | undefined) => Promise<void>,
  ): Promise<T> => {
    if (hooks.size === 0) return work();
    const before = new Map(table);
    const result = await work();
    for (const [id, row] of before) if (table.get(id) !== row) await changed(row, table.get(id));
    return result;
  };
  const sandboxesHeard = (store: SandboxStore): SandboxStore => ({
    ...store,
    claim: (...given) => observed(rows.sandboxes, () => store.claim(...given), changedSandbox),
    update: (...given) => observed(rows.sandboxes, () => store.update(...given), changedSandbox),
    remove: (...given) => observed(rows.sandboxes, () => store.remove(...given), changedSandbox),
  });
  const snapshotsHeard = (store: SnapshotStore): SnapshotStore => ({
    ...store,
    insert: (...given) => observed(rows.snapshots, () => store.insert(...given), changedSnapshot),
    update: (...given) => observed(rows.snapshots, () => store.update(...given), changedSnapshot),
    give: (...given) => observed(rows.snapshots, () => store.give(...given), changedSnapshot),
    delete: (...given) => observed(rows.snapshots, () => store.delete(...given), changedSnapshot),
  });
  /** Ways in that an admin makes for somebody else. */
  const waysHeard = (store: WaysIn): WaysIn => ({
    keys: {
      ...store.keys,
      async add(userId, apiKey, details) {
        const key = await store.keys.add(userId, apiKey, details);
        await made(userId, 'key', details.by);
        return key;
      },
    },
    signIns: {
      ...store.signIns,
      async addLink(hash, userId, options) {
        await store.signIns.addLink(hash, userId, options);
        await made(userId, 'sign_in_link', options.by);
      },
    },
    identities: {
      ...store.identities,
      async link(identity, by) {
        await store.identities.link(identity, by);
        await made(identity.userId, 'identity', by);
      },
    },
  });
  const made = async (userId: string, kind: string, by?: { id: string } | null) => {
    if (by) await queue(userId, 'way_in.made', { owner_id: userId, kind, made_by: by.id });
  };
  return { webhooks, sandboxesHeard, snapshotsHeard, waysHeard };
}
