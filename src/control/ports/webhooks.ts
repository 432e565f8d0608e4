/** Webhooks, and the queue of their events. The database itself queues events of sandboxes and snapshots, in the transaction of the change. */
import type { QuotaKind } from '../../model/quota.ts';
import type { Delivery, DeliveryState, Webhook, WebhookEvent } from '../../model/webhooks/webhook.ts';

export type NewWebhook = Pick<Webhook, 'id' | 'ownerId' | 'createdBy' | 'url' | 'events' | 'createdAt'>;

export interface WebhookPatch {
  url?: string;
  events?: readonly WebhookEvent[];
  /** null enables it, and forgets its failures; a text disables it, and drops what waits. */
  disabledReason?: string | null;
}

/** The end of one attempt. */
export interface Settled {
  state: Exclude<DeliveryState, 'dropped'>;
  status: number | null;
  error: string | null;
  nextAttemptAt: number | null;
}

/** A webhook with events that are due. */
export type DueWebhook = Pick<Webhook, 'id' | 'ownerId'>;

export interface WebhookStore {
  /** Rejects with `resource_exhausted` when the owner, or the installation, has too many. */
  insert(webhook: NewWebhook, secret: string): Promise<Webhook>;
  /** Oldest first. */
  list(ownerId: string | null): Promise<Webhook[]>;
  get(id: string): Promise<Webhook | null>;
  update(id: string, patch: WebhookPatch, now: number): Promise<Webhook | null>;
  /** Puts a secret in place of the present one, which signs too until then. */
  rotate(id: string, secret: string, previousUntil: number, now: number): Promise<Webhook | null>;
  /** Secrets that sign now, the newest first; empty when the webhook is gone. */
  secrets(id: string, now: number): Promise<string[]>;
  /** Its events go with it. */
  remove(id: string): Promise<boolean>;

  /** Newest first, at most `limits.webhooks.shown`. */
  deliveries(webhookId: string): Promise<Delivery[]>;
  /** Makes an event that is over due again, under its id; null when there is none, or it is still pending. */
  redeliver(webhookId: string, id: string): Promise<Delivery | null>;
  /** Queues a test event that this caller sends itself. Returns it as taken until then; null when the webhook is gone. */
  takeTest(webhookId: string, now: number, until: number): Promise<Delivery | null>;

  /** Enabled webhooks with something due, whose owners are enabled too. */
  due(now: number): Promise<DueWebhook[]>;
  /** Drops the oldest events beyond `limits.webhooks.queued`, and forgets those that are over beyond `kept`. */
  trim(webhookId: string): Promise<void>;
  /** Takes events that are due, the oldest first: nobody else gets them until then. */
  take(webhookId: string, most: number, now: number, until: number): Promise<Delivery[]>;
  /** Ends the attempt of this number; does nothing when the event has moved on. */
  settle(
    delivery: Pick<Delivery, 'id' | 'webhookId' | 'attempts'>,
    settled: Settled,
    now: number,
  ): Promise<void>;
  /**
   * Queues `quota.refused` for those who hear it, unless one about this quota of the owner was queued within
   * `limits.webhooks.refusalMs`.
   */
  refused(ownerId: string, quota: QuotaKind, now: number): Promise<void>;
}

/** Sends one request to a receiver. It decides about the address that it connects to, and follows no redirect. */
export type Answer =
  | { status: number; retryAfter: string | null }
  /** All that a member learns of an attempt without an answer, so that none is a look into the operator's network. */
  | { error: 'refused' | 'no answer' | 'the certificate is not trusted' };

export interface WebhookSender {
  /** Resolves within `limits.webhooks.attemptMs`, and never rejects. */
  send(request: {
    url: string;
    headers: Record<string, string>;
    body: string;
    /** Takes a share of the lookups of names. */
    owner: string;
    signal: AbortSignal;
  }): Promise<Answer>;
}
