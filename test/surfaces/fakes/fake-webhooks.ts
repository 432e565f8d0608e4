/** Webhooks as they are, over a store in memory, with a receiver that answers 204. */
import { WebhookService } from '../../../src/control/live/webhooks.ts';
import { Shares } from '../../../src/fairness/shares.ts';
import type { Account } from '../../../src/model/user.ts';
import { memoryWebhooks } from '../../store/memory/memory-webhooks.ts';

export function fakeWebhooks(users: { find(id: string): Promise<Account> }): WebhookService {
  const findUser = (id: string) => users.find(id);
  const { webhooks: store } = memoryWebhooks({ sandboxes: new Map(), snapshots: new Map() }, { findUser });
  return new WebhookService({
    ...{ store, allowed: [], clock: Date, log: { info() {}, warn() {}, error() {} } },
    sender: { send: async () => ({ status: 204, retryAfter: null }) },
    places: new Shares({ total: 2, perOwner: 1, what: 'events are being delivered' }),
  });
}
