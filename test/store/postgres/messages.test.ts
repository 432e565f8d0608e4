/** Messages between replicas: each topic reaches the others, and none its sender. */
import { describe, expect, it } from 'vitest';
import type { Topic } from '../../../src/control/ports/index.ts';
import { MESSAGE_CHANNEL, Messages } from '../../../src/store/postgres/messages.ts';

function twoReplicas() {
  const replicas: Messages[] = [];
  // As the database does: whoever listens hears every message, its sender too.
  const pool = {
    async query(_sql: string, [channel, payload]: [string, string]) {
      if (channel === MESSAGE_CHANNEL) for (const replica of replicas) replica.hear(payload);
    },
  };
  for (const id of ['rep_1', 'rep_2']) replicas.push(new Messages(pool as never, () => id));
  return replicas as [Messages, Messages];
}

describe('a message', () => {
  it.each<Topic>(['yield', 'over', 'seen', 'wanted', 'snapshot'])(
    'about %s reaches the other replica',
    async (topic) => {
      const [one, two] = twoReplicas();
      const heard: string[] = [];
      one.on(topic, (text) => heard.push(`one: ${text}`));
      two.on(topic, (text) => heard.push(`two: ${text}`));
      one.send(topic, 'with spaces\nand lines');
      expect(heard).toEqual(['two: with spaces\nand lines']);
    },
  );

  it('of a topic that is not known here is left out', () => {
    const [, two] = twoReplicas();
    expect(() => two.hear('rep_1 newer text')).not.toThrow();
    expect(() => two.hear('nonsense')).not.toThrow();
  });
});
