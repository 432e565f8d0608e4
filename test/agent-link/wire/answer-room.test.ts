/** The room that collected answers take: of one user's calls together, before the bytes are there. */
import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call } from '../../../src/agent-link/call.ts';
import { encodeJson, frameHeader, frameTypes } from '../../../src/agent-link/frames.ts';
import { AnswerRoom, collecting, currentHold } from '../../../src/fairness/answer-room.ts';
import { startScratchSandbox } from '../scratch-sandbox.ts';

const SMALL_ANSWER_BYTES = 64 * 1024;

const MiB = 1024 * 1024;

describe('room for answers', () => {
  it('of one user is 56 MiB: more waits until some are sent, and others do not wait', async () => {
    const room = new AnswerRoom();
    const first = room.hold('mallory');
    for (let at = 0; at < 3; at++) await first.take(16 * MiB);
    const second = room.hold('mallory');
    const waits = second.take(16 * MiB).then(() => 'taken');
    await room.hold('alice').take(16 * MiB);
    const soon = new Promise((done) => setImmediate(done, 'waits'));
    expect(await Promise.race([waits, soon])).toBe('waits');
    first.release();
    expect(await waits).toBe('taken');
    second.release();
  });

  it('is free for small answers', async () => {
    const room = new AnswerRoom();
    for (let at = 0; at < 2_000; at++) await room.hold('mallory').take(SMALL_ANSWER_BYTES);
  });

  it('is given back at once when it is taken for a call that is over', async () => {
    const room = new AnswerRoom();
    const full = room.hold('mallory');
    await full.take(56 * MiB);
    const gone = room.hold('mallory');
    const late = gone.take(56 * MiB);
    gone.release();
    full.release();
    await late;
    await room.hold('mallory').take(56 * MiB);
  });

  it('is known to what works for the call, and to nothing else', async () => {
    const hold = new AnswerRoom().hold('alice');
    const known = await collecting(hold, async () => {
      await Promise.resolve();
      return currentHold();
    });
    expect(known).toBe(hold);
    expect(currentHold()).toBeUndefined();
  });

  it('is waited for before an agent may send, and no longer than the call', async () => {
    await using sandbox = await startScratchSandbox();
    const { agent, id } = sandbox;
    await agent.write(id, { path: 'large', content: Buffer.alloc(2 * MiB, 'x'), createParents: true });
    const room = new AnswerRoom();
    const full = room.hold('mallory');
    await full.take(56 * MiB);
    const read = (owner: string, signal?: AbortSignal) => {
      const hold = room.hold(owner);
      return collecting(hold, () => agent.read(id, { path: 'large' }, signal)).finally(() => hold.release());
    };
    const left = new AbortController();
    const gone = read('mallory', left.signal);
    const waits = read('mallory').then(({ content }) => content.length);
    expect((await read('alice')).content.length).toBe(2 * MiB);
    left.abort();
    await expect(gone).rejects.toThrow();
    const soon = new Promise((done) => setTimeout(done, 200, 'waits'));
    expect(await Promise.race([waits, soon])).toBe('waits');
    full.release();
    expect(await waits).toBe(2 * MiB);
  }, 30_000);

  it('is not waited for in the time that the agent has', async () => {
    const [host, agent] = duplexPair();
    agent.once('data', () => {
      agent.write(encodeJson(frameTypes.reply, { size: 1_000_000 }));
      agent.write(frameHeader(frameTypes.data, 1_000_000));
      agent.write(Buffer.alloc(1_000_000));
      agent.write(frameHeader(frameTypes.end, 0));
    });
    const room = new AnswerRoom();
    const full = room.hold('mallory');
    await full.take(56 * MiB);
    const hold = room.hold('mallory');
    const answer = collecting(hold, () =>
      call(async () => host, 'sb_1', {
        request: { v: 2, op: 'read' },
        timeoutMs: 200,
        reply: z.object({ size: z.number() }),
        dataBytes: ({ size }) => size,
      }),
    );
    setTimeout(() => full.release(), 600);
    expect((await answer).data.length).toBe(1_000_000);
  });

  it('is no more than the answer once its length is known', async () => {
    const [host, agent] = duplexPair();
    agent.once('data', () => {
      agent.write(encodeJson(frameTypes.item, 'x'.repeat(100_000)));
      agent.write(encodeJson(frameTypes.reply, {}));
    });
    const room = new AnswerRoom();
    const hold = room.hold('mallory');
    const options = { request: { op: 'list' as const }, timeoutMs: 5_000, reply: z.object({}), maxItems: 1 };
    await collecting(hold, () => call(async () => host, 'sb_1', options));
    await room.hold('mallory').take(55 * MiB, AbortSignal.timeout(1_000));
    hold.release();
  });
});
