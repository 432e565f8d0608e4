/** The driver may wait for an answer for ever, for example after a reset in its handshake. `demo-db` does not. */
import type { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';
import { closeClient } from '../../src/demo-database/database.ts';
import { skippableTime } from '../support/skip-time.ts';

const client = (close: () => Promise<void>) => ({ close }) as unknown as MongoClient;

it('a client that does not close is waited for two seconds', async () => {
  const skip = skippableTime();
  let closed = false;
  const closing = closeClient(client(() => new Promise(() => {}))).then(() => {
    closed = true;
  });
  await skip(1_900);
  expect(closed).toBe(false);
  await skip(200);
  await closing;
});

it('one that fails to close says so', async () => {
  await expect(closeClient(client(async () => Promise.reject(new Error('broken'))))).rejects.toThrow(
    'broken',
  );
});
