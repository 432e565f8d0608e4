/** Snapshots, people and keys, activity, health, and how an agent is connected, as an admin. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf } from './support/looks.ts';
import { savedText } from './support/saved.ts';
import { type Walker, walkerOf } from './support/walker.ts';

const { url } = inject('sharedService');
let browser: Browser;
let walker: Walker;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, inject('sharedService'), 'Manager', { role: 'admin' });
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const action = <Answer>(name: string, parameters = {}) =>
  walker.sdk.administration.call<Answer>(name, parameters);

describe('a snapshot', () => {
  it('is made, used for a sandbox with its sizes, and deleted', async () => {
    await walker.go('/snapshots');
    await walker.click('New snapshot');
    await walker.fill('Name', 'walked');
    await walker.fill('Image', 'base');
    for (const label of ['vCPUs', 'Memory in GB', 'Disk in GB']) await walker.fill(label, '1');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.click('Create');
    await expect.poll(() => snapshotState('walked')).toBe('active');
    await walker.click('Refresh');
    await walker.click('Use walked for a new sandbox');
    await walker.fill('Name', 'from-walked');
    await walker.click('Create');
    await walker.page.getByRole('heading', { name: 'from-walked' }).waitFor();
    expect(await walker.sdk.getSandbox({ sandbox: 'from-walked' })).toMatchObject({
      ...{ snapshot: 'walked', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } },
    });
    await walker.go('/snapshots');
    await walker.click('Delete walked');
    await walker.confirm('Delete');
    await walker.sees('walked deleted');
    await expect.poll(() => snapshotState('walked')).toBe('none');
  });
});

async function snapshotState(name: string): Promise<string> {
  const { snapshots } = await walker.sdk.listSnapshots({});
  return snapshots.find((one) => one.name === name)?.state ?? 'none';
}

describe('a user', () => {
  it('is made with a quota and a key that works, and opens nothing once disabled', async () => {
    await walker.go('/people');
    await walker.click('New user');
    await walker.fill('Name', 'Grace');
    await walker.fill('Email', 'grace@example.org');
    await walker.fill('Sandboxes', '3');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.click('Save');
    await walker.page.getByRole('heading', { name: 'Grace' }).waitFor();
    await walker.sees('0 / 3');
    const { users } = await action<{ users: Record<string, unknown>[] }>('ListUsers', { page_size: 100 });
    expect(users.find(({ name }) => name === 'Grace')).toMatchObject({
      ...{ email: 'grace@example.org', role: 'member', usage: { sandboxes: { used: 0, limit: 3, left: 3 } } },
    });
    const grace = new Sandhaven({ url, apiKey: await keyFor(/^Grace/) });
    expect(await grace.whoAmI({})).toMatchObject({ name: 'Grace' });
    await walker.click('Disable Grace');
    await walker.sees('Their keys stop working');
    await walker.confirm('Disable');
    await walker.sees('Grace disabled');
    await expect(grace.whoAmI({})).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('loses a key that is revoked after a question', async () => {
    await walker.click('Revoke for Grace');
    await walker.sees('stops working for good');
    await walker.confirm('Revoke');
    await walker.sees('for Grace revoked');
    const { keys } = await action<{ keys: Record<string, unknown>[] }>('ListKeys', { page_size: 100 });
    expect(keys.find(({ name }) => name === 'for Grace')?.['revoked_at']).toEqual(expect.any(String));
  });
});

async function keyFor(user: RegExp): Promise<string> {
  await walker.click('New key');
  await walker.fill('Name', 'for Grace');
  await walker.page.getByRole('combobox', { name: 'User' }).click();
  await walker.page.getByRole('option', { name: user }).click();
  await walker.click('Create');
  const key = walker.page.getByRole('dialog').getByText(/^shv_/);
  await key.waitFor();
  expect(await faultsOf(walker.page)).toEqual([]);
  const text = (await key.textContent()) ?? '';
  await walker.click('I have it');
  return text.trim();
}

describe('activity', () => {
  it('is filtered, verified, and saved to a file', async () => {
    await walker.go('/activity');
    await walker.fill('Action', 'CreateUser');
    await walker.click('Filter');
    const calls = walker.page.getByRole('region', { name: 'Calls, table' });
    await calls.getByText('CreateUser').first().waitFor();
    expect(new URL(walker.page.url()).search).toBe('?action=CreateUser');
    await expect.poll(() => calls.getByText('RunCommand').count()).toBe(0);
    await walker.click('Verify');
    await walker.sees('The log is intact');
    expect(await faultsOf(walker.page)).toEqual([]);
    expect(await action('VerifyAudit')).toMatchObject({ intact: true });
    await walker.click('Export');
    await walker.choose('CSV, for spreadsheets');
    const text = await savedText(walker.page, () => walker.confirm('Export'));
    expect(text).toContain('CreateUser');
    expect(text).not.toContain('shv_');
  });
});

describe('health', () => {
  it('is good, and names the version', async () => {
    await walker.go('/health');
    await walker.sees('Ready for calls');
    await expect.poll(() => walker.page.getByText('ok', { exact: true }).count()).toBeGreaterThanOrEqual(2);
    await walker.sees('Sandhaven');
    expect(await faultsOf(walker.page)).toEqual([]);
  });
});

describe('connecting', () => {
  it('makes a key, and tests it over HTTP and MCP', async () => {
    await walker.go('/connect');
    await walker.sees(/"SANDBOX_API_URL": "http:\/\/127\.0\.0\.1:\d+"/);
    await walker.click('Make a key');
    await walker.fill('Name', 'agent');
    await walker.click('Create');
    await walker.click('I have it');
    await walker.click('Test the key');
    await walker.sees('answered as Manager');
    await walker.sees(/^sandhaven.* with \d+ tools/i);
    expect(await faultsOf(walker.page)).toEqual([]);
    const { keys } = await action<{ keys: Record<string, unknown>[] }>('ListKeys', { page_size: 100 });
    expect(keys.find(({ name }) => name === 'agent')?.['last_used_at']).toEqual(expect.any(String));
  });

  it('names the cause where a key does not work', async () => {
    await walker.page.getByLabel('API key').fill('shv_wrong');
    await walker.click('Test the key');
    await walker.sees('The key does not work');
    await walker.sees('The API key is not valid.');
  });
});
