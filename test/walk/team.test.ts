/** A member who acts for a team: its sandbox's files, pictures and terminal are theirs, until they sign out. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { mustAct } from '../support/people.ts';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

const service = inject('sharedService');
let browser: Browser;
let walker: Walker;
/** As the team. */
let team: Sandhaven;
let sandbox: string;

/** A picture of 8 by 8 points. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGNkaGj4z4AXMOGXHhkKAHTwAhGl7hRVAAAAAElFTkSuQmCC',
  'base64',
);

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, service, 'Together');
  await mustAct(service, 'CreateTeam', { name: 'walkers' });
  await mustAct(service, 'AddTeamMember', { team: 'walkers', user: walker.user.email });
  team = new Sandhaven({ url: service.url, apiKey: walker.user.apiKey, team: 'walkers' });
  ({ id: sandbox } = await team.createSandbox({ name: 'shared', cpu: 1, memory_gb: 1, disk_gb: 1 }));
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const menu = () => walker.page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();

describe('a member of a team', () => {
  it('acts for it, and sees its sandbox', async () => {
    await walker.go('/sandboxes');
    await walker.sees('Your first sandbox');
    await menu();
    await walker.choose('Team walkers');
    await walker.sees('for walkers');
    await walker.sees('shared');
    expect(await faultsOf(walker.page)).toEqual([]);
  });

  it('uploads a picture into it, and sees it', async () => {
    await walker.go(`/sandboxes/${sandbox}/files`);
    const choosing = walker.page.waitForEvent('filechooser');
    await walker.click('Upload');
    await (await choosing).setFiles({ name: 'point.png', mimeType: 'image/png', buffer: PNG });
    await expect
      .poll(() =>
        team.files.download(sandbox, 'point.png').then(
          (file) => file.bytes(),
          () => null,
        ),
      )
      .toEqual(new Uint8Array(PNG));
    await walker.go(`/sandboxes/${sandbox}/files?file=/workspace/point.png`);
    const picture = walker.page.frameLocator('iframe[title="point.png"]').locator('img');
    await expect
      .poll(() => picture.evaluate((one) => (one as { naturalWidth?: number }).naturalWidth))
      .toBe(8);
  });

  it('types into its terminal', async () => {
    await walker.go(`/sandboxes/${sandbox}/terminal?terminal=main`);
    await walker.sees('Connected.');
    await walker.page.keyboard.type('echo $((6*7)) > typed.txt\n');
    await expect
      .poll(() =>
        team.readFile({ sandbox, path: 'typed.txt' }).then(
          ({ content }) => content,
          () => '',
        ),
      )
      .toContain('42');
    expect(await faultsOf(walker.page)).toEqual([]);
  });

  it('signs out, and is nobody but themselves once signed in again', async () => {
    await walker.go('/sandboxes');
    await menu();
    const loaded = walker.page.waitForEvent('load');
    await walker.choose('Sign out');
    await loaded;
    await walker.page.getByLabel('API key', { exact: true }).fill(walker.user.apiKey);
    await walker.page.keyboard.press('Enter');
    await walker.sees('Your first sandbox');
    expect(await walker.page.getByText('for walkers').count()).toBe(0);
  });
});
