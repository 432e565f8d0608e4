/** The document database on the page: collections, the schema of one, and queries. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { useService } from '../documentdb/service.ts';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf, takePicture } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

const opened = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: inject('documentDatabase').reader }));
let browser: Browser;
let walker: Walker;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, opened.service, 'Reader');
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

describe('a collection', () => {
  it('shows its schema', async () => {
    const { result } = await walker.sdk.documentDb.discoverDatabases({});
    const database = result[0]?.name ?? '';
    const found = await walker.sdk.documentDb.discoverCollections({ database_name: database });
    const collection = found.result[0]?.name ?? '';
    await walker.go('/documents');
    if (result.length > 1) await walker.page.getByRole('button', { name: database }).click();
    await walker.page.getByRole('button', { name: new RegExp(`^${collection}`) }).click();
    await walker.page.getByRole('heading', { name: collection }).waitFor();
    await walker.page.getByText('_id', { exact: true }).first().waitFor();
    expect(await faultsOf(walker.page)).toEqual([]);
    await takePicture(walker.page, 'schema');
  });

  it('answers a query, and names the fault of a wrong one', async () => {
    await walker.page.getByText('Query', { exact: true }).click();
    await walker.click('Run');
    await walker.sees('documents, and there are more');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.page.getByText('Count', { exact: true }).click();
    await walker.click('Run');
    await walker.sees(/^[\d,]+ documents$/);
    await walker.fill('Filter', '{"$where": "1"}');
    await walker.click('Run');
    await walker.sees('The query did not run');
    expect(await faultsOf(walker.page)).toEqual([]);
  });
});
