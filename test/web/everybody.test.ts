/** Everybody's sandboxes in the built page, where there are more than one page of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';

let opened: Opened;

beforeAll(async () => {
  opened = await openPage(150);
}, 60_000);

afterAll(() => opened?.close());

const rows = () => opened.visitor.page.$$eval('tbody tr', (all) => all.length);

it('come a hundred at a time, with the number of all', async () => {
  const { visitor } = opened;
  await visitor.go('/sandboxes?whose=everybody');
  await visitor.sees('100 of 151 sandboxes');
  expect(await rows()).toBe(100);
  expect(await visitor.broken()).toEqual([]);
  await visitor.click('More');
  await expect.poll(rows).toBe(151);
  await visitor.sees('151 sandboxes');
  expect(await visitor.page.$('::-p-aria([name="More"][role="button"])')).toBeNull();
  await visitor.click('Stop demo');
  await visitor.sees('Its disk stays, unless a stop deletes this sandbox.');
  expect(visitor.faults).toEqual([]);
});
