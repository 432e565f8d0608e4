/** A user in a browser of the walk, who notes whatever the page must not do. */
import type { Browser, BrowserContext, ConsoleMessage, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { Sandhaven } from '../../../sdk/src/index.ts';
import { mustAct } from '../../support/people.ts';
import type { Service } from '../../support/service.ts';
import { browserName, typeIntoFirefox } from './browsers.ts';

type Addressed = Pick<Service, 'url' | 'apiKey'>;

export interface Walker {
  page: Page;
  context: BrowserContext;
  /** Of the page; previews have sites beside it. */
  origin: string;
  /** As the same user, for what the service says afterwards. */
  sdk: Sandhaven;
  user: { id: string; email: string; apiKey: string };
  /** Violations of the policy, errors of scripts and of the console, requests to other sites, scripts of others. */
  faults: string[];
  go(path: string): Promise<void>;
  click(name: string): Promise<void>;
  /** Chooses from the open menu, once it is open: the page below may have a button of the same name. */
  choose(item: string): Promise<void>;
  /** Answers the open dialog, once it is open. */
  confirm(action: string): Promise<void>;
  /** Fills the field with this label. */
  fill(label: string, text: string): Promise<void>;
  sees(text: string | RegExp): Promise<void>;
  /** Shows the page light or dark. */
  wear(theme: Theme): Promise<void>;
  close(): Promise<void>;
}

export type Theme = 'light' | 'dark';

export interface WalkerOptions {
  role?: 'admin' | 'member';
  width?: number;
  height?: number;
}

const WAIT_MS = 20_000;
/** Hash of the style that Playwright tries to add before a picture, which Firefox reports as an error of a script. */
const PICTURE_STYLE = 'sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA=';

/** A new user, signed in by a one-time link. */
export async function walkerOf(
  browser: Browser,
  service: Addressed,
  name: string,
  options: WalkerOptions = {},
): Promise<Walker> {
  const user = await newUser(service, name, options.role ?? 'member');
  const { width = 1280, height = 800 } = options;
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  await noteViolations(context, faults);
  if (browserName === 'firefox') await context.addInitScript(typeIntoFirefox);
  const page = await context.newPage();
  const link = await linkOf({ url: service.url, apiKey: user.apiKey });
  const { origin } = new URL(link);
  notePage(page, origin, faults);
  await page.goto(link);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const sdk = new Sandhaven({ url: service.url, apiKey: user.apiKey });
  return { ...{ page, context, origin, sdk, user, faults }, ...stepsOf(page, context, origin, faults) };
}

/** A link of the owner of the key. */
export async function linkOf(own: Addressed): Promise<string> {
  return String((await mustAct(own, 'CreateSignInLink'))['url']);
}

type Steps = Pick<Walker, 'go' | 'click' | 'choose' | 'confirm' | 'fill' | 'sees' | 'wear' | 'close'>;

function stepsOf(page: Page, context: BrowserContext, origin: string, faults: string[]): Steps {
  return {
    async go(path) {
      await page.goto(origin + path);
      await settled(page);
    },
    click: (name) => named(page, name).click(),
    choose: (name) => page.getByRole('menuitem', { name, exact: true }).click(),
    confirm: (name) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click(),
    fill: (label, text) => page.getByRole('textbox', { name: label, exact: true }).last().fill(text),
    sees: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(),
    async wear(theme) {
      // As if it were chosen in another tab: of this Firefox nobody can say that its system is dark.
      await page.evaluate(`{
        const chosen = { key: 'mantine-color-scheme-value', newValue: '${theme}', storageArea: localStorage };
        localStorage.setItem(chosen.key, chosen.newValue);
        dispatchEvent(new StorageEvent('storage', chosen));
      }`);
      await page.locator(`html[data-mantine-color-scheme="${theme}"]`).waitFor();
    },
    async close() {
      await context.close();
      expect(faults).toEqual([]);
    },
  };
}

/** The button, link or choice with this accessible name; an open dialog comes after what is below it. */
function named(page: Page, name: string): Locator {
  const roles = ['button', 'link', 'radio'] as const;
  const [first, ...others] = roles.map((role) => page.getByRole(role, { name, exact: true }));
  return others
    .reduce((all, one) => all.or(one), first as Locator)
    .filter({ visible: true })
    .last();
}

/** A heading is there, and nothing is being loaded. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, [role="alert"]').first().waitFor();
  await page.locator('[class*="Skeleton"], [class*="Loader"]').first().waitFor({ state: 'detached' });
}

async function newUser(service: Addressed, name: string, role: string): Promise<Walker['user']> {
  const email = `${name.toLowerCase().replace(/\W+/g, '-')}@example.org`;
  const { user_id } = await mustAct(service, 'CreateUser', { name, email, role });
  const { api_key } = await mustAct(service, 'CreateKey', { user: email, name: 'of the walk' });
  return { id: String(user_id), email, apiKey: String(api_key) };
}

/** In every page of the context; `canary` is what hostile texts call. */
async function noteViolations(context: BrowserContext, faults: string[]): Promise<void> {
  await context.exposeBinding('canary', () => void faults.push('a foreign script has run'));
  await context.exposeBinding('noteViolation', ({ frame }, text: string) => {
    if (!isFileSite(frame.url())) faults.push(text);
  });
  // For a picture, Playwright tries to add a style.
  await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    window.isPictured || window.noteViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`);
}

function notePage(page: Page, origin: string, faults: string[]): void {
  page.on('pageerror', (error) => {
    if (!String(error).includes(PICTURE_STYLE)) faults.push(`script: ${String(error)}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !isRefusal(message) && !isFileSite(message.location().url))
      faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    const address = request.url();
    const isOwn = address.startsWith(`${origin}/`) || /^(blob|data|about):/.test(address);
    const isFrame = request.isNavigationRequest() && request.frame() !== page.mainFrame();
    if (!isOwn && !(isFrame && isFileSite(address))) faults.push(`request: ${address}`);
  });
}

/** Images and PDFs are in frames of sites of their own, whose policy refuses what a file would do. */
function isFileSite(address: string): boolean {
  return /^https?:\/\/file-[a-z2-7]{26}\./.test(address);
}

/** The browser notes each refusal of the service, and the end of the stream of changes with its sign-in; the page shows both. */
function isRefusal(message: ConsoleMessage): boolean {
  const text = message.text();
  if (!text.startsWith('Failed to load resource:')) return false;
  const { pathname } = new URL(message.location().url);
  if (pathname === '/v1/events') return /status of 4\d\d|net::ERR_CONNECTION_RESET$/.test(text);
  // The service has no document database, and says so with 503.
  return (
    /status of 4\d\d/.test(text) || (pathname.startsWith('/v1/tools/DocumentDb.') && /of 503/.test(text))
  );
}
