/** The list of real sandboxes: filters, several at once, questions before a loss, and a sandbox with every option. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

let browser: Browser;
let walker: Walker;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, inject('sharedService'), 'List');
  const small = { cpu: 1, memory_gb: 1, disk_gb: 1 };
  for (const name of ['red', 'green', 'blue']) {
    await walker.sdk.createSandbox({ ...small, name, labels: name === 'blue' ? {} : { team: 'ml' } });
  }
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const states = async () => {
  const { sandboxes } = await walker.sdk.listSandboxes({});
  return Object.fromEntries(sandboxes.map(({ name, state }) => [name, state]));
};

describe('the list', () => {
  it('shows what others make as it happens, and filters it', async () => {
    await walker.go('/sandboxes');
    await walker.sees('3 sandboxes');
    await walker.fill('Labels', 'team=ml');
    await walker.sees('2 of 3 sandboxes');
    await walker.fill('Labels', '');
    await walker.fill('Name or ID', 'gree');
    await walker.sees('1 of 3 sandboxes');
    expect(walker.page.url()).toBe(`${walker.origin}/sandboxes?name=gree`);
    await walker.fill('Name or ID', 'none');
    await walker.sees('No sandbox matches');
    await walker.click('Clear the filters');
    await walker.sees('3 sandboxes');
  });

  it('stops several after a question, and starts them again', async () => {
    await choose('red', 'green');
    await walker.click('Stop');
    await walker.sees('Files stay on their disks.');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.confirm('Cancel');
    expect(await states()).toEqual({ red: 'started', green: 'started', blue: 'started' });
    await walker.click('Stop');
    await walker.confirm('Stop 2 sandboxes');
    await walker.sees('2 sandboxes stopped');
    expect(await states()).toEqual({ red: 'stopped', green: 'stopped', blue: 'started' });
    await choose('red', 'green');
    await walker.click('Start');
    await walker.sees('2 sandboxes started');
    expect(await states()).toEqual({ red: 'started', green: 'started', blue: 'started' });
  });

  it('deletes several after a question that names the loss', async () => {
    await choose('red', 'green');
    await walker.click('Delete');
    await walker.sees('Their disks of up to 2 GB');
    await walker.confirm('Delete 2 sandboxes');
    await walker.sees('2 sandboxes deleted');
    expect(await states()).toEqual({ blue: 'started' });
  });
});

describe('a new sandbox', () => {
  it('has every option that was chosen', async () => {
    await walker.go('/sandboxes');
    await walker.click('New sandbox');
    await walker.fill('Name', 'sb_wrong');
    await walker.click('Create');
    expect(await walker.page.getByRole('dialog').locator('[aria-invalid=true]').count()).toBe(1);
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.fill('Name', 'whole');
    await walker.page.getByRole('combobox', { name: 'Language of RunCode' }).click();
    await walker.page.getByRole('option', { name: 'javascript' }).click();
    for (const [label, value] of numbers) await walker.fill(label, value);
    await walker.fill('Labels', 'team=walk\ndraft=');
    await walker.fill('Environment variables', 'MODE=test');
    await walker.page.getByRole('checkbox', { name: /^Ephemeral/ }).check();
    await walker.click('Create');
    await walker.page.getByRole('heading', { name: 'whole' }).waitFor();
    expect(await walker.sdk.getSandbox({ sandbox: 'whole' })).toMatchObject({
      ...{ state: 'started', language: 'javascript', ephemeral: true, auto_stop_minutes: 7 },
      ...{ labels: { team: 'walk', draft: '' }, env_vars: { MODE: 'test' } },
      resources: { cpu: 1, memory: 1, disk: 2, gpu: 0 },
    });
  });

  it('is deleted by its own stop, since it is ephemeral, after a question', async () => {
    await walker.click('Stop');
    await walker.sees('because a stop deletes this sandbox');
    await walker.confirm('Stop');
    await walker.sees('whole stopped');
    expect(await states()).toEqual({ blue: 'started' });
  });
});

const numbers = [
  ['vCPUs', '1'],
  ['Memory in GB', '1'],
  ['Disk in GB', '2'],
  ['Stops after idle minutes (0: never)', '7'],
] as const;

async function choose(...names: string[]): Promise<void> {
  for (const name of names) await walker.page.getByRole('checkbox', { name: `Choose ${name}` }).check();
  await walker.sees(`${names.length} chosen`);
}
