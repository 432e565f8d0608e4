/** A connection that is closed while it is being opened. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KeptConnection } from '../../../src/store/postgres/kept-connection.ts';
import { type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

it('stays closed, and beats no more, when it is closed while it is being prepared', async () => {
  const prepared = Promise.withResolvers<boolean>();
  const preparing = Promise.withResolvers<void>();
  let beats = 0;
  const kept = new KeptConnection({
    address: { url: await server.database(), password: null },
    beatMs: 10,
    take() {
      preparing.resolve();
      return prepared.promise;
    },
    beat: async () => void beats++,
    hear: () => {},
    taken: () => {},
    lost: () => {},
  });
  const opening = kept.open();
  await preparing.promise;
  await kept.close();
  prepared.resolve(true);
  expect(await opening).toBe(false);
  expect(kept.isOpen).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(beats).toBe(0);
});
