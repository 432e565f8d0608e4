/** Other replicas that have heard: who ends a right waits for them, and no longer than a second for one that is away. */
import { describe, expect, it, vi } from 'vitest';
import type { Topic } from '../../../src/control/ports/index.ts';
import { Echo, Messages } from '../../../src/store/postgres/messages.ts';

function replicas(...ids: string[]) {
  const all: Messages[] = [];
  const pool = {
    async query(_sql: string, [, payload]: [string, string]) {
      for (const one of all) one.hear(payload);
    },
  };
  for (const id of ids) all.push(new Messages(pool as never, () => id));
  return all.map((messages, index) => ({ messages, echo: new Echo(messages, () => ids[index] ?? '') }));
}

describe('a question', () => {
  it('is over when all others have answered', async () => {
    const [one] = replicas('rep_1', 'rep_2', 'rep_3');
    await one?.echo.heard(['rep_2', 'rep_3']);
  });

  it('needs no answer where there are no others', async () => {
    const [one] = replicas('rep_1');
    await one?.echo.heard([]);
  });

  it('waits for each of the others, and a second for one that is away', async () => {
    vi.useFakeTimers();
    try {
      const [one] = replicas('rep_1', 'rep_2');
      const over = vi.fn();
      void one?.echo.heard(['rep_2', 'rep_away']).then(over);
      await vi.advanceTimersByTimeAsync(999);
      expect(over).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(over).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it('comes behind the news of what was committed before it', async () => {
    const [one, two] = replicas('rep_1', 'rep_2');
    const heard: string[] = [];
    two?.messages.on('over' satisfies Topic, (text) => heard.push(text));
    one?.messages.send('over', 'key_1');
    await one?.echo.heard(['rep_2']);
    expect(heard).toEqual(['key_1']);
  });
});
