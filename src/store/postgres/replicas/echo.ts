/**
 * Waits until the other replicas have heard what this one has committed. They answer a question that is sent behind the news of
 * it, by the same connection, so an answer comes from a replica that has taken the news in.
 */
import { randomBytes } from 'node:crypto';
import { limits } from '../../../model/limits.ts';
import type { Messages } from './messages.ts';

interface Question {
  missing: Set<string>;
  answered(): void;
}

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
