/** A file whose bytes somebody reads slowly: the agent's time runs only while the agent has to send. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openReadStream } from '../../../src/agent-link/files.ts';
import { answering, data, end, type fakeAgent, reply, SANDBOX } from './fake-agent.ts';

const frame = Buffer.alloc(1_048_576, 'x');
const announced = reply({ size: 2 * frame.length, bytes: 2 * frame.length });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const open = ({ openChannel }: ReturnType<typeof fakeAgent>) =>
  openReadStream(openChannel, SANDBOX, { path: 'large' });

it('comes whole to a reader who pauses for longer than an agent may', async () => {
  const answer = Buffer.concat([announced, data(frame), data(frame), end()]);
  const { stream } = await open(answering(answer));
  await vi.waitFor(() => expect(stream.readableLength).toBeGreaterThanOrEqual(1_048_576));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(await buffer(stream)).toHaveLength(2_097_152);
});

it('ends with `unavailable` when the agent sends nothing for a minute to a reader who waits', async () => {
  const { stream } = await open(answering(Buffer.concat([announced, data(frame)])));
  const failed = once(stream, 'error');
  let received = 0;
  stream.on('data', (piece: Buffer) => {
    received += piece.length;
  });
  // Each byte that comes begins the minute anew.
  await vi.waitFor(() => expect(received).toBe(1_048_576));
  await vi.advanceTimersByTimeAsync(59_000);
  expect(stream.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await failed).toMatchObject([{ code: 'unavailable' }]);
});
