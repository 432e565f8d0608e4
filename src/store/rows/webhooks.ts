/** Webhooks and the queue of their events as rows. Secrets are sealed. Every method that writes has committed when its promise resolves. */
import type {
  DueWebhook,
  NewWebhook,
  Settled,
  WebhookPatch,
  WebhookStore,
} from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newDeliveryId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { QuotaKind } from '../../model/quota.ts';
import { type Delivery, TEST_EVENT, type Webhook } from '../../model/webhooks/webhook.ts';
import type { Secrets } from '../files/secrets.ts';
import type { Row, Sql, Work } from '../sql/sql.ts';
import { deliveryIn, prepare, webhookIn } from './webhook-statements.ts';

type SecretColumn = 'secret' | 'previous_secret';

const bounds = limits.webhooks;

export class WebhookRows implements WebhookStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
    this.#statements = prepare(sql.dialect);
  }

  async insert(webhook: NewWebhook, secret: string): Promise<Webhook> {
    const { id, ownerId: owner, createdBy, url, events, createdAt: now } = webhook;
    const { count, insert, get } = this.#statements;
    const sealed = this.#secrets.seal(secret, placeOf(id, 'secret'));
    const row = {
      id,
      owner,
      created_by: createdBy,
      url,
      events: JSON.stringify(events),
      secret: sealed,
      now,
    };
    return this.#sql.write('webhooks', function* () {
      const there = yield* count.get({ owner });
      if (Number(there?.['own']) >= bounds.perOwner) throw tooMany(bounds.perOwner, 'webhooks of this owner');
      if (Number(there?.['total']) >= bounds.total) throw tooMany(bounds.total, 'webhooks of the service');
      yield* insert.run(row);
      const inserted = one(yield* get.get({ id }));
      if (!inserted) throw new Error('the webhook is gone within its transaction');
      return inserted;
    });
  }

  async list(ownerId: string | null): Promise<Webhook[]> {
    const rows = await this.#sql.read(
      () => this.#statements.list.all({ owner: ownerId }),
      ownerId ?? undefined,
    );
    return rows.map(webhookIn);
  }

  async get(id: string): Promise<Webhook | null> {
    return one(await this.#sql.read(() => this.#statements.get.get({ id })));
  }

  async update(id: string, patch: WebhookPatch, now: number): Promise<Webhook | null> {
    const { change, enable, disable, get } = this.#statements;
    const { url = null, events, disabledReason: reason } = patch;
    const drop = () => this.#drop(id, this.#statements.dropAll.run({ id }));
    return this.#write(id, function* () {
      const changed = yield* change.run({ id, url, events: events ? JSON.stringify(events) : null, now });
      if (changed === 0) return null;
      if (reason === null) yield* enable.run({ id });
      if (typeof reason === 'string') {
        yield* disable.run({ id, reason, now });
        yield* drop();
      }
      return one(yield* get.get({ id }));
    });
  }

  async rotate(id: string, secret: string, previousUntil: number, now: number): Promise<Webhook | null> {
    const { sealed, rotate, get } = this.#statements;
    const secrets = this.#secrets;
    const box = secrets.seal(secret, placeOf(id, 'secret'));
    return this.#write(id, function* () {
      const row = yield* sealed.get({ id });
      if (!row) return null;
      const present = secrets.open(row['secret'], placeOf(id, 'secret'));
      const previous = secrets.seal(present, placeOf(id, 'previous_secret'));
      yield* rotate.run({ id, secret: box, previous, until: previousUntil, now });
      return one(yield* get.get({ id }));
    });
  }

  async secrets(id: string, now: number): Promise<string[]> {
    const row = await this.#sql.read(() => this.#statements.sealed.get({ id }));
    if (!row) return [];
    const present = this.#secrets.open(row['secret'], placeOf(id, 'secret'));
    if (row['previous_secret'] === null || Number(row['previous_until']) <= now) return [present];
    return [present, this.#secrets.open(row['previous_secret'], placeOf(id, 'previous_secret'))];
  }

  async remove(id: string): Promise<boolean> {
    return this.#write(id, () => this.#removed(id));
  }

  async deliveries(webhookId: string): Promise<Delivery[]> {
    const values = { id: webhookId, most: bounds.shown };
    return (await this.#sql.read(() => this.#statements.deliveries.all(values))).map(deliveryIn);
  }

  async redeliver(webhookId: string, id: string): Promise<Delivery | null> {
    const values = { id: webhookId, delivery: id };
    const row = await this.#sql.writeOne(() => this.#statements.redeliver.get(values));
    return row ? deliveryIn(row) : null;
  }

  async takeTest(webhookId: string, now: number, until: number): Promise<Delivery | null> {
    const data = JSON.stringify({ webhook_id: webhookId });
    const id = webhookId;
    const values = { id, delivery: newDeliveryId(), type: TEST_EVENT, data, now, until };
    const { get, queueTaken } = this.#statements;
    return this.#write(id, function* () {
      if (!(yield* get.get({ id }))) return null;
      const row = yield* queueTaken.get(values);
      return row ? deliveryIn(row) : null;
    });
  }

  async due(now: number): Promise<DueWebhook[]> {
    const rows = await this.#sql.read(() => this.#statements.due.all({ now }));
    return rows.map((row) => ({
      id: String(row['id']),
      ownerId: row['owner_id'] === null ? null : String(row['owner_id']),
    }));
  }

  /** Writes only where there is something to remove. */
  async trim(webhookId: string): Promise<void> {
    const { excess, dropOldest, forget } = this.#statements;
    const id = webhookId;
    const there = await this.#sql.read(() => excess.get({ id }));
    const tooManyPending = Number(there?.['pending']) > bounds.queued;
    if (!tooManyPending && Number(there?.['finished']) <= bounds.kept) return;
    const drop = () => this.#drop(id, dropOldest.run({ id, most: bounds.queued }));
    await this.#write(id, function* () {
      yield* drop();
      yield* forget.run({ id, most: bounds.kept });
    });
  }

  async take(webhookId: string, most: number, now: number, until: number): Promise<Delivery[]> {
    const values = { id: webhookId, most, now, until };
    const rows = await this.#sql.writeOne(() => this.#statements.take.all(values));
    return rows.sort((one, other) => Number(one['sequence']) - Number(other['sequence'])).map(deliveryIn);
  }

  async settle(
    { id: delivery, webhookId: id, attempts }: Pick<Delivery, 'id' | 'webhookId' | 'attempts'>,
    { state, status, error, nextAttemptAt: next }: Settled,
    now: number,
  ): Promise<void> {
    const { settle, attempted } = this.#statements;
    await this.#write(id, function* () {
      const settled = yield* settle.run({ delivery, attempts, state, status, error, next });
      if (settled === 0) return;
      yield* attempted.run({ id, status, error, failed: state === 'delivered' ? 0 : 1, now });
    });
  }

  async refused(ownerId: string, quota: QuotaKind, now: number): Promise<void> {
    const { hearers, refuse, queue } = this.#statements;
    const owner = ownerId;
    // A refusal that nobody hears writes nothing.
    const heard = await this.#sql.read(() => hearers.all({ owner }), owner);
    if (heard.length === 0) return;
    const data = JSON.stringify({ owner_id: owner, quota });
    await this.#sql.write(
      `refusals of ${owner}`,
      function* () {
        const row = yield* refuse.get({ owner, quota, now, before: now - bounds.refusalMs });
        if (!row) return;
        for (const { id } of yield* hearers.all({ owner })) {
          yield* queue.run({ delivery: newDeliveryId(), id: String(id), type: 'quota.refused', data, now });
        }
      },
      owner,
    );
  }

  *#drop(id: string, dropping: Work<number>): Work<void> {
    const more = yield* dropping;
    if (more > 0) yield* this.#statements.countDropped.run({ id, more });
  }

  *#removed(id: string): Work<boolean> {
    return (yield* this.#statements.remove.run({ id })) === 1;
  }

  /** Writes of one webhook run one after another, so that none of them waits for rows of another in a circle. */
  #write<T>(id: string, work: () => Work<T>): Promise<T> {
    return this.#sql.write(`webhook ${id}`, work);
  }
}

function one(row: Row | undefined): Webhook | null {
  return row ? webhookIn(row) : null;
}

function placeOf(id: string, column: SecretColumn) {
  return { table: 'webhooks', row: id, column };
}

function tooMany(most: number, things: string): SandhavenError {
  return new SandhavenError('resource_exhausted', `There are ${most} ${things} already.`, {
    hint: 'Delete one that is no longer needed: DeleteWebhook.',
  });
}
