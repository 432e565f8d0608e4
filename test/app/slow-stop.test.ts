/** A stop that hangs leaves a line in the log that says what is still open. */
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { reportSlowStop } from '../../src/app/up.ts';
import { skippableTime } from '../support/skip-time.ts';

it('after 20 seconds, and only then', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  const skip = skippableTime();
  const lines: unknown[] = [];
  const warn = (message: string, context: unknown) => lines.push([message, context]);
  reportSlowStop({ warn, info() {}, error() {} });
  await skip(19_000);
  expect(lines).toEqual([]);
  await skip(1_000);
  expect(lines).toEqual([
    [
      'the stop takes long; these are still open',
      { open: expect.objectContaining({ TCPServerWrap: expect.any(Number) }) },
    ],
  ]);
});
