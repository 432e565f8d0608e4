/** The example of a month's orders, against the database of the tests and a real sandbox. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { chartOrders } from '../../../examples/orders/orders.ts';
import { must, type Service, startService } from '../../support/service.ts';

const PNG_SIGNATURE = '89504e470d0a1a0a';
let service: Service;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-orders-'));
  service = await startService({ env: { DOCUMENTDB_CONNECTION_STRING: inject('documentDatabase').reader } });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('an agent charts a month’s orders: the database and Python add them up to the same, to the cent', async () => {
  const file = join(folder, 'orders.png');
  const said: string[] = [];
  const { url, apiKey } = service;
  const outcome = await chartOrders({ url, apiKey, chart: file, say: (line) => said.push(line) });
  expect(outcome.byDatabase.length).toBeGreaterThan(2);
  expect(outcome.byPython).toEqual(outcome.byDatabase);
  expect(outcome.byDatabase.reduce((sum, { orders }) => sum + orders, 0)).toBe(outcome.saved);
  expect(outcome.chart).toEqual({ type: 'bar', title: `Orders of ${outcome.month}` });
  expect((await readFile(file)).toString('hex', 0, 8)).toBe(PNG_SIGNATURE);
  expect(said.at(-1)).toBe('deleted the sandbox');
  expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 0 });
}, 120_000);
