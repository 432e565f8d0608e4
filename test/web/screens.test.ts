/** The built page in Chromium, over the service's HTTP server: its screens, its policy, its accessibility. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MEMBER_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { type Visitor, visit } from './support/visitor.ts';

/** More than one page of them. */
const MANY = 150;

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(MANY);
  visitor = opened.visitor;
  await visitor.sees('151 sandboxes');
}, 60_000);

afterAll(() => opened?.close());

afterEach(() => {
  expect(visitor.faults.splice(0)).toEqual([]);
});

describe('sign-in', () => {
  it('refuses a wrong key with the cause, and lets a right one in until the sign-out', async () => {
    const guest = await visit(opened.browser, opened.url);
    await guest.signIn('shv_wrong');
    await guest.sees('The API key is not valid.');
    expect(await guest.broken()).toEqual([]);
    await guest.fill('API key', MEMBER_KEY);
    await guest.page.keyboard.press('Enter');
    await guest.sees('Your keys');
    expect(await guest.page.evaluate('document.cookie')).toBe('');
    await guest.page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();
    await guest.click('Sign out');
    await guest.sees('Sign in');
    expect(guest.faults).toEqual([]);
  });
});

describe('the list of sandboxes', () => {
  it('holds in the document only the rows in view, and scrolls to the last', async () => {
    await visitor.go('/sandboxes?sort=name');
    await visitor.sees('151 sandboxes');
    // The first page says how many there are; the others follow.
    await expect.poll(() => visitor.page.$eval('main', (main) => main.innerText)).not.toContain(' loaded');
    const rows = () => visitor.page.$$eval('[role="row"]', (all) => all.length);
    expect(await rows()).toBeLessThan(60);
    await visitor.page.$eval('[role="table"]', (box) => box.scrollTo(0, box.scrollHeight));
    await visitor.sees('worker-150');
    expect(await rows()).toBeLessThan(60);
  });

  it('keeps its filters in the address', async () => {
    await visitor.go('/sandboxes');
    await visitor.fill('Name or ID', 'worker-14');
    await visitor.sees('11 of 151 sandboxes');
    expect(await visitor.page.evaluate('location.search')).toBe('?name=worker-14');
    await visitor.page.reload();
    await visitor.sees('11 of 151 sandboxes');
  });

  it('has a menu for each row that the keyboard opens, walks and leaves', async () => {
    await visitor.go('/sandboxes?name=worker-7&state=stopped');
    await visitor.page.locator('[aria-label="Actions on worker-7"]').wait();
    await visitor.page.focus('[aria-label="Actions on worker-7"]');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Archive');
    await expect.poll(() => visitor.page.evaluate('document.activeElement.textContent')).toBe('Start');
    await visitor.page.keyboard.press('ArrowDown');
    expect(await visitor.page.evaluate('document.activeElement.textContent')).toBe('Archive');
    expect(await visitor.broken()).toEqual([]);
    await visitor.page.keyboard.press('Escape');
    const focused = () => visitor.page.evaluate('document.activeElement.ariaLabel');
    await expect.poll(focused).toBe('Actions on worker-7');
  });
});

describe('everybody’s sandboxes', () => {
  it('come a hundred at a time, with the number of all', async () => {
    const rows = () => visitor.page.$$eval('tbody tr', (all) => all.length);
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
  });
});

describe('a key', () => {
  it('is shown once, and put into the configuration', async () => {
    await visitor.go('/connect');
    await visitor.click('Make a key');
    await visitor.fill('Name', 'laptop');
    await visitor.click('Create');
    await visitor.sees('This is the only time that the key is shown');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('I have it');
    await visitor.page.waitForFunction(
      `[...document.querySelectorAll('main pre')].some((pre) => pre.textContent.includes('"SANDBOX_API_KEY": "shv_'))`,
    );
  });

  it('is limited to the scopes that are ticked', async () => {
    await visitor.go('/people');
    await visitor.click('New key');
    await visitor.fill('Name', 'reader');
    await visitor.page.locator('::-p-aria([name="Limit what it may be used for"][role="checkbox"])').click();
    expect(await visitor.page.$eval('button[type=submit]', (button) => button.disabled)).toBe(true);
    await visitor.click('sandboxes:read');
    await visitor.click('account');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('Create');
    await visitor.sees('This is the only time that the key is shown');
    await visitor.click('I have it');
    await visitor.sees('sandboxes:read, account');
    const { keys } = await opened.world.services.keys.list(user, undefined, { page: 1, pageSize: 100 });
    expect(keys.find(({ key }) => key.name === 'reader')?.key.scopes).toEqual(['sandboxes:read', 'account']);
  });
});

describe('health', () => {
  it('shows an admin the room, the pauses and the findings, the worst first', async () => {
    await visitor.go('/health');
    await visitor.sees('1 started of 2');
    await visitor.sees('1 paused');
    await visitor.sees('Watch the free space.');
    const label = 'Free disk of the last half hour, 46.6 GB now';
    await visitor.page.waitForSelector(`svg[aria-label="${label}"]`);
    const names = await visitor.page.$$eval('h2', (all) => all.map(({ textContent }) => textContent));
    expect(names).toContain('Doctor');
    expect(await visitor.broken()).toEqual([]);
  });

  it('shows a member none of that', async () => {
    const guest = await visit(opened.browser, opened.url);
    await guest.signIn(MEMBER_KEY);
    await guest.sees('Sandboxes');
    await guest.go('/health');
    await guest.sees('Ready for calls');
    expect(await guest.page.$$eval('h2', (all) => all.map(({ textContent }) => textContent))).not.toContain(
      'Doctor',
    );
    expect(guest.faults).toEqual([]);
  });
});

describe('every screen', () => {
  const screens = () => [
    '/sandboxes?name=worker-1',
    `/sandboxes/${opened.demo}`,
    `/sandboxes/${opened.demo}/files?file=%2Fworkspace%2Fsrc%2Fmain.py`,
    ...['terminal?terminal=main', 'sessions', 'processes', 'git', 'network', 'access'].map(
      (tab) => `/sandboxes/${opened.demo}/${tab}`,
    ),
    ...['/snapshots', '/activity', '/people', '/connect', '/documents', '/health', '/nowhere'],
  ];

  it('has no fault that axe finds at 360 px, dark, and is not wider than the window', async () => {
    await visitor.page.setViewport({ width: 360, height: 800 });
    await visitor.page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: 'dark' },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
    const found: string[] = [];
    for (const path of screens()) {
      await visitor.go(path === '/nowhere' ? '/sandboxes/nowhere' : path);
      for (const fault of await visitor.broken()) found.push(`${path} ${fault}`);
      const isWide = await visitor.page.evaluate('document.documentElement.scrollWidth > innerWidth');
      if (isWide) found.push(`${path} is wider than the window`);
    }
    expect(found).toEqual([]);
  }, 60_000);
});

describe('a very wide window', () => {
  it('is filled without a fault', async () => {
    await visitor.page.setViewport({ width: 3840, height: 2160 });
    await visitor.go('/sandboxes');
    expect(await visitor.broken()).toEqual([]);
    await visitor.sees('Owner');
  });
});

describe('the keyboard', () => {
  it('comes from the skip link to the content, and through the navigation', async () => {
    await visitor.page.setViewport({ width: 1280, height: 800 });
    await visitor.go('/health');
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Enter');
    expect(await visitor.page.evaluate('document.activeElement?.id')).toBe('content');
    await visitor.go('/health');
    for (let press = 0; press < 3; press++) await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Named images, or disks of sandboxes');
    expect(await visitor.page.evaluate('document.activeElement?.id')).toBe('content');
  });
});
