/**
 * Messages between replicas, by NOTIFY. Callers cause those about what they have seen: few of these are sent at a time, and
 * none of the others waits for them. A replica without a connection misses what is sent meanwhile.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Log, Topic } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';

export const MESSAGE_CHANNEL = 'sandhaven_replicas';

/** A topic of a newer replica has no listeners here. */
const form = /^(\S+) (\S+) ([\s\S]*)$/;

export class Messages {
  readonly #pool: Pick<pg.Pool, 'query'>;
  readonly #id: () => string;
  readonly #log: Pick<Log, 'warn'> | undefined;
  readonly #listeners = new Map<Topic, ((text: string) => void)[]>();
  /** Messages about what callers have seen, under way. */
  #seen = 0;

  /** @param id Returns the present id of this replica, which does not listen to itself. */
  constructor(pool: Pick<pg.Pool, 'query'>, id: () => string, log?: Pick<Log, 'warn'>) {
    this.#pool = pool;
    this.#id = id;
    this.#log = log;
  }

  on(topic: Topic, listener: (text: string) => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  send(topic: Topic, text: string): void {
    const message = `${this.#id()} ${topic} ${text}`;
    const { messageBytes, seenUnderWay } = limits.replicas;
    const isSeen = topic === 'seen';
    if (Buffer.byteLength(message) > messageBytes || (isSeen && this.#seen >= seenUnderWay)) {
      this.#drop(topic);
      return;
    }
    if (isSeen) this.#seen += 1;
    this.#pool
      .query('SELECT pg_notify($1, $2)', [MESSAGE_CHANNEL, message])
      .catch(() => this.#drop(topic))
      .finally(() => {
        if (isSeen) this.#seen -= 1;
      });
  }

  hear(payload: string): void {
    const [, sender, topic, text] = form.exec(payload) ?? [];
    if (sender === this.#id() || text === undefined) return;
    for (const listener of this.#listeners.get(topic as Topic) ?? []) listener(text);
  }

  #drop(topic: Topic): void {
    this.#log?.warn('a message to the other replicas was lost', { topic });
  }
}

interface Question {
  missing: Set<string>;
  answered(): void;
}

/**
 * Waits until the other replicas have heard what this one has committed. They answer a question that is sent behind
 * the news of it, by the same connection, so an answer comes from a replica that has taken the news in.
 */
export class Echo {
  readonly #messages: Pick<Messages, 'send' | 'on'>;
  readonly #questions = new Map<string, Question>();

  /** @param id Returns the present id of this replica. */
  constructor(messages: Pick<Messages, 'send' | 'on'>, id: () => string) {
    this.#messages = messages;
    messages.on('ask', (question) => messages.send('answer', `${question} ${id()}`));
    messages.on('answer', (text) => this.#take(text));
  }

  /** Resolves when all of them have answered, or after a second without the answer of one. */
  async heard(others: readonly string[]): Promise<void> {
    if (others.length === 0) return;
    const question = randomBytes(9).toString('base64url');
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limits.replicas.heardMs);
    this.#questions.set(question, { missing: new Set(others), answered: resolve });
    this.#messages.send('ask', question);
    await promise;
    clearTimeout(timer);
    this.#questions.delete(question);
  }

  #take(text: string): void {
    const [name = '', from = ''] = text.split(' ');
    const question = this.#questions.get(name);
    if (!question) return;
    question.missing.delete(from);
    if (question.missing.size === 0) question.answered();
  }
}
