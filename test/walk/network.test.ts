/** The network of a real sandbox: a name is refused, seen in the log as it happens, and allowed from there. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf, takePicture } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

let browser: Browser;
let walker: Walker;
let sandbox: string;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, inject('sharedService'), 'Network');
  const network = { profiles: ['packages' as const], allow: ['https://one.example'] };
  ({ id: sandbox } = await walker.sdk.createSandbox({
    name: 'net',
    cpu: 1,
    memory_gb: 1,
    disk_gb: 1,
    network,
  }));
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const networkOf = async () => (await walker.sdk.getSandbox({ sandbox })).network;

it('a refused name is seen as it happens, and allowed by one click', async () => {
  await walker.go(`/sandboxes/${sandbox}/network`);
  await walker.sees('The sandbox reaches only what a profile or a rule names.');
  await walker.sees('Nothing yet.');
  const { exit_code } = await walker.sdk.runCommand({ sandbox, command: 'getent ahostsv4 two.example' });
  expect(exit_code).not.toBe(0);
  await walker.sees('no rule allows it');
  expect(await faultsOf(walker.page)).toEqual([]);
  await takePicture(walker.page, 'network-log');
  await walker.click('Allow two.example');
  await walker.sees('two.example is allowed');
  expect(await networkOf()).toEqual({
    ...{ mode: 'rules', profiles: ['packages'], allow: ['https://one.example', 'two.example'] },
  });
});

it('is changed to none and back to open, and a wrong rule is refused with its cause', async () => {
  await walker.page.getByText('None', { exact: true }).click();
  await walker.click('Save network');
  await walker.sees('Network saved');
  expect((await networkOf())?.mode).toBe('none');
  await walker.page.getByText('Rules', { exact: true }).first().click();
  await walker.fill('Rules', 'https://*.com');
  await walker.click('Save network');
  await walker.sees(/anyone may have one below com/);
  expect((await networkOf())?.mode).toBe('none');
  await walker.page.getByText('Open', { exact: true }).click();
  await walker.click('Save network');
  await expect.poll(async () => (await networkOf())?.mode).toBe('open');
});
