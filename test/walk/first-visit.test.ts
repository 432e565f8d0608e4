/** The first visit, with the keyboard alone: a one-time link, a sandbox in three presses, its code. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf } from './support/looks.ts';
import { linkOf, type Walker, walkerOf } from './support/walker.ts';

const service = inject('sharedService');

describe('a first visit', () => {
  let browser: Browser;
  let walker: Walker;

  beforeAll(async () => {
    browser = await launchBrowser();
    walker = await walkerOf(browser, service, 'First Visitor');
  });

  afterAll(async () => {
    await walker?.close();
    await browser?.close();
  });

  it('begins with a link that works once, and leaves the address bar', async () => {
    expect(walker.page.url()).toBe(`${walker.origin}/sandboxes`);
    expect(await walker.page.evaluate('document.cookie')).toBe('');
    const { sign_ins } = await walker.sdk.administration.call<{ sign_ins: unknown[] }>('ListSignIns', {});
    expect(sign_ins).toHaveLength(1);
    const link = await linkOf({ url: service.url, apiKey: walker.user.apiKey });
    const guest = await browser.newContext();
    const page = await guest.newPage();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Your first sandbox' }).waitFor();
    await guest.clearCookies();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('alert').filter({ hasText: 'Not signed in' }).waitFor();
    await guest.close();
  });

  it('has a sandbox in three presses of the keyboard', async () => {
    const { page, sdk } = walker;
    await walker.sees('Your first sandbox');
    expect(await faultsOf(page)).toEqual([]);
    await press(page, 'TypeScript');
    await press(page, 'Small');
    await press(page, 'Create the sandbox');
    await walker.sees('Last activity');
    const { sandboxes } = await sdk.listSandboxes({});
    expect(sandboxes).toHaveLength(1);
    expect(sandboxes[0]).toMatchObject({
      ...{ state: 'started', language: 'typescript' },
      resources: { cpu: 1, memory: 2, disk: 10, gpu: 0 },
    });
  });

  it('runs code there, by the keyboard too', async () => {
    const { page } = walker;
    await press(page, 'Run', 'link');
    await page.locator('.cm-content').waitFor();
    await reach(page, 'Text of code', 'textbox');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('console.log(6 * 7)');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Output', exact: true }).getByText('42').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  it('ends with a sign-out, after which the page shows nothing', async () => {
    const { page, sdk } = walker;
    await page.getByRole('button', { name: 'First Visitor' }).first().press('Enter');
    await page.getByRole('menuitem', { name: 'Sign out' }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await walker.go('/sandboxes');
    await walker.sees('API key');
    const { sign_ins } = await sdk.administration.call<{ sign_ins: unknown[] }>('ListSignIns', {});
    expect(sign_ins).toHaveLength(1);
  });
});

type Role = 'button' | 'link' | 'textbox';

async function press(page: Page, name: string, role: Role = 'button'): Promise<void> {
  await reach(page, name, role);
  await page.keyboard.press('Enter');
}

const MOST_STOPS = 60;

/** Goes from one stop of the Tab key to the next, as a person without a mouse does. */
async function reach(page: Page, name: string, role: Role): Promise<void> {
  const wanted = page.getByRole(role, { name: new RegExp(`^${name}`) });
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press('Tab');
    const focused = wanted.and(page.locator(':focus'));
    if ((await focused.count()) > 0) return;
  }
  throw new Error(`the keyboard does not reach ${name}`);
}
