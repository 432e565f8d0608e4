/** Large answers that are sent side by side: none holds up the event loop, nor do all of them. */
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { jsonPieces, writePieces } from '../../src/surfaces/json/pieces.ts';
import { longestTurn } from '../support/event-loop.ts';

const MiB = 1024 * 1024;

/** Takes all that comes at once, and keeps only its length. */
class Client extends Writable {
  bytes = 0;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytes += chunk.length;
    done();
  }
}

it('thirty answers of 12 MiB hold no turn for 100 ms, and are whole', async () => {
  const clients = Array.from({ length: 30 }, () => new Client());
  const { signal } = new AbortController();
  const { ms } = await longestTurn(() =>
    Promise.all(clients.map((client) => writePieces(client, jsonPieces('\u0001'.repeat(2 * MiB)), signal))),
  );
  expect(clients.map(({ bytes }) => bytes)).toEqual(clients.map(() => 12 * MiB + 2));
  expect(ms).toBeLessThan(100);
});

it('an answer whose client leaves is made no further', async () => {
  const controller = new AbortController();
  let made = 0;
  function* pieces(): Generator<string> {
    for (; made < 1_000; made++) {
      if (made === 3) controller.abort(new Error('gone'));
      yield 'x';
    }
  }
  await expect(writePieces(new Client(), pieces(), controller.signal)).rejects.toThrow('gone');
  expect(made).toBe(3);
});
