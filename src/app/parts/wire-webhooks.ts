/** Wires webhooks: their service, and the worker that delivers their events. */

import { Deliverer } from '../../control/live/deliverer.ts';
import { WebhookService } from '../../control/live/webhooks.ts';
import type { Clock, Log, Store } from '../../control/ports/index.ts';
import { Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import type { AllowedHost } from '../../model/network/allowed-hosts.ts';
import type { Exit } from '../../outbound/exit.ts';
import { createWebhookSender } from '../../webhooks/sender.ts';

export interface WebhookParts {
  store: Pick<Store, 'webhooks' | 'replicas'>;
  /** Receivers that the operator allows besides public ones. */
  allowed: readonly AllowedHost[];
  exit: Exit;
  clock: Clock;
  log: Log;
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer;
}

export function wireWebhooks({ store, allowed, exit, clock, log, ca }: WebhookParts) {
  const sender = createWebhookSender({ exit, allowed, ca });
  const places = new Shares({ ...limits.webhooks.atOnce, what: 'events of webhooks are being delivered' });
  const parts = { store: store.webhooks, sender, places, clock, log };
  return {
    webhooks: new WebhookService({ ...parts, allowed }),
    deliverer: new Deliverer({ ...parts, replicas: store.replicas }),
  };
}
