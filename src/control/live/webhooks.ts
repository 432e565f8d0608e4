/**
 * Webhooks of an owner, and of the installation, which admins manage. Who acts for a team manages the team's. A webhook that
 * is not the caller's is answered as one that is not there.
 */
import { notFound, SandhavenError } from '../../model/errors.ts';
import { newWebhookId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { AllowedHost } from '../../model/network/allowed-hosts.ts';
import type { QuotaKind } from '../../model/quota.ts';
import { hasScope } from '../../model/scopes.ts';
import { assertAdmin, type Caller, ownerIdOf } from '../../model/user.ts';
import { newWebhookSecret } from '../../model/webhooks/attempts.ts';
import { parseReceiver } from '../../model/webhooks/receiver.ts';
import {
  type Delivery,
  type Webhook,
  type WebhookEvent,
  webhookEvents,
} from '../../model/webhooks/webhook.ts';
import type { Log, WebhookPatch } from '../ports/index.ts';
import { attempt, type DelivererDependencies, placeOwner } from './deliverer.ts';

export interface WebhookDependencies extends Omit<DelivererDependencies, 'replicas'> {
  allowed: readonly AllowedHost[];
  log: Log;
}

export interface WebhookRequest {
  url: string;
  /** All by default. */
  events: readonly WebhookEvent[] | undefined;
  everybody: boolean;
}

export interface WebhookChange {
  url?: string | undefined;
  events?: readonly WebhookEvent[] | undefined;
  disabled?: boolean | undefined;
}

const BY_HAND = 'It was disabled by hand.';

export class WebhookService {
  readonly #deps: WebhookDependencies;

  constructor(dependencies: WebhookDependencies) {
    this.#deps = dependencies;
  }

  /** Returns the secret in clear, for the only time. Makes no request: TestWebhook does. */
  async create(
    caller: Caller,
    { url, events = webhookEvents, everybody }: WebhookRequest,
  ): Promise<{ webhook: Webhook; secret: string }> {
    const { store, allowed, clock } = this.#deps;
    if (everybody) assertAdmin(caller, 'A webhook for everybody');
    const secret = newWebhookSecret();
    const webhook = await store.insert(
      {
        ...{ id: newWebhookId(), ownerId: everybody ? null : ownerIdOf(caller), createdBy: caller.id },
        ...{ url: parseReceiver(url, allowed), events: [...new Set(events)], createdAt: clock.now() },
      },
      secret,
    );
    return { webhook, secret };
  }

  /** @param everybody true: those of the installation, for admins. */
  async list(caller: Caller, everybody: boolean): Promise<Webhook[]> {
    if (everybody) assertAdmin(caller, 'A list of webhooks for everybody');
    const webhooks = await this.#deps.store.list(everybody ? null : ownerIdOf(caller));
    return webhooks.map((webhook) => shownTo(caller, webhook));
  }

  async update(caller: Caller, id: string, { url, events, disabled }: WebhookChange): Promise<Webhook> {
    const { store, allowed, clock } = this.#deps;
    await this.#of(caller, id);
    const patch: WebhookPatch = {
      ...(url === undefined ? {} : { url: parseReceiver(url, allowed) }),
      ...(events === undefined ? {} : { events: [...new Set(events)] }),
      ...(disabled === undefined ? {} : { disabledReason: disabled ? BY_HAND : null }),
    };
    return there(id, await store.update(id, patch, clock.now()));
  }

  /** Returns the new secret in clear, for the only time. The old one signs beside it for a while. */
  async rotate(caller: Caller, id: string): Promise<{ webhook: Webhook; secret: string }> {
    const { store, clock } = this.#deps;
    await this.#of(caller, id);
    const secret = newWebhookSecret();
    const now = clock.now();
    const webhook = there(id, await store.rotate(id, secret, now + limits.webhooks.overlapMs, now));
    return { webhook, secret };
  }

  async remove(caller: Caller, id: string): Promise<Webhook> {
    const webhook = await this.#of(caller, id);
    await this.#deps.store.remove(id);
    return webhook;
  }

  /**
   * Sends one event and returns how it ended; also of a disabled webhook. It is not tried again, and a caller who leaves
   * stops nothing.
   */
  async test(caller: Caller, id: string): Promise<Delivery> {
    const { store, places, clock } = this.#deps;
    const webhook = await this.#of(caller, id);
    const leave = places.take(placeOwner(webhook));
    try {
      const now = clock.now();
      const delivery = there(id, await store.takeTest(id, now, now + limits.webhooks.claimMs));
      const settled = await attempt(this.#deps, webhook, delivery, new AbortController().signal);
      return settled ? { ...delivery, ...settled } : delivery;
    } finally {
      leave();
    }
  }

  /** Newest first. */
  async deliveries(caller: Caller, id: string): Promise<Delivery[]> {
    await this.#of(caller, id);
    return this.#deps.store.deliveries(id);
  }

  /** Sends an event that is over once more, under its id. */
  async redeliver(caller: Caller, id: string, deliveryId: string): Promise<Delivery> {
    if ((await this.#of(caller, id)).disabledAt !== null) throw isDisabled();
    const delivery = await this.#deps.store.redeliver(id, deliveryId);
    if (delivery) return delivery;
    throw notFound(
      'delivery',
      `The webhook has no delivery '${deliveryId}' that is over.`,
      'ListWebhookDeliveries shows them; one that is pending is sent by itself.',
    );
  }

  /** Queues an event about a call that a quota refused. Never fails: the caller gets the refusal. */
  async refused(caller: Caller, quota: QuotaKind): Promise<void> {
    const { store, clock, log } = this.#deps;
    await store.refused(ownerIdOf(caller), quota, clock.now()).catch((cause: unknown) => {
      log.warn('an event about a quota was not queued', { error: cause });
    });
  }

  async #of(caller: Caller, id: string): Promise<Webhook> {
    const webhook = await this.#deps.store.get(id);
    const isOwn = webhook?.ownerId === ownerIdOf(caller);
    const isAdmins = webhook?.ownerId === null && caller.role === 'admin';
    return there(id, isOwn || isAdmins ? webhook : null);
  }
}

/** A URL may hold a secret of its receiver, so who may not change it sees its origin alone. */
function shownTo(caller: Caller, webhook: Webhook): Webhook {
  return hasScope(caller, 'sandboxes:write') ? webhook : { ...webhook, url: new URL(webhook.url).origin };
}

function there<Found>(id: string, found: Found | null | undefined): Found {
  if (found) return found;
  throw notFound('webhook', `There is no webhook '${id}'.`, 'ListWebhooks shows the ids of webhooks.');
}

function isDisabled(): SandhavenError {
  return new SandhavenError('invalid_state', 'The webhook is disabled, so nothing is sent.', {
    parameter: 'webhook_id',
    hint: 'Enable it first: UpdateWebhook with disabled false.',
  });
}
