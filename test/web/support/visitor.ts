/** A visitor of the page in Chromium, who notes whatever the page must not do. */
import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type BrowserContext, type Page } from 'puppeteer-core';
import { brokenRules } from './accessibility.ts';

/** A heading is there, and nothing is being loaded. */
const SETTLED = `document.querySelector('h1, [role="alert"]') && !document.querySelector('[class*="Skeleton"], [class*="Loader"]')`;

export interface Visitor {
  page: Page;
  url: string;
  /** Violations of the policy, errors of scripts, requests to other origins. */
  faults: string[];
  go(path: string): Promise<void>;
  /** Opens the page in another tab, signed in alike. */
  another(): Promise<Visitor>;
  signIn(key: string): Promise<void>;
  /** Clicks the button, link or menu item with this accessible name, once it is there. */
  click(name: string): Promise<void>;
  /** Types into the field with this label. */
  fill(label: string, text: string): Promise<void>;
  /** Gives a file to the field for files. */
  attach(file: string): Promise<void>;
  /** Resolves once the page shows this text. */
  sees(text: string): Promise<void>;
  /** Rules of accessibility that the page breaks now, each with the element. */
  broken(): Promise<string[]>;
}

export async function launch(): Promise<Browser> {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
  if (!executablePath) throw new Error('Chromium is missing: `make setup-checks` installs it');
  return puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export async function visit(browser: Browser, url: string): Promise<Visitor> {
  return visitIn(await browser.createBrowserContext(), url);
}

async function visitIn(context: BrowserContext, url: string): Promise<Visitor> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.setViewport({ width: 1280, height: 800 });
  const faults: string[] = [];
  note(page, url, faults);
  await page.exposeFunction('noteViolation', (text: string) => void faults.push(text));
  await page.evaluateOnNewDocument(`document.addEventListener('securitypolicyviolation', (event) =>
    window.noteViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`);
  const visitor: Visitor = {
    ...{ page, url, faults },
    async go(path) {
      // A page in the background draws nothing, and is waited for by its drawing.
      await page.bringToFront();
      await page.goto(url + path);
      await page.waitForFunction(SETTLED);
    },
    async another() {
      const other = await visitIn(context, url);
      await other.go('/');
      return other;
    },
    async signIn(key) {
      await visitor.go('/');
      await visitor.fill('API key', key);
      await page.keyboard.press('Enter');
    },
    async click(name) {
      await page.locator(`::-p-aria([name="${name}"])`).filter(isUncovered).click();
    },
    async fill(label, text) {
      const field = await page.waitForSelector(`::-p-aria([name="${label}"][role="textbox"])`);
      await field?.click({ count: 3 });
      await field?.type(text);
    },
    async attach(file) {
      const [chooser] = await Promise.all([page.waitForFileChooser(), visitor.click('Upload')]);
      await chooser.accept([file]);
    },
    async sees(text) {
      await page.bringToFront();
      await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`);
    },
    broken: () => brokenRules(page),
  };
  return visitor;
}

/** What is needed here of the page's elements. */
interface PageElement {
  getBoundingClientRect(): { left: number; top: number; width: number; height: number };
  ownerDocument: { elementFromPoint(x: number, y: number): PageElement | null };
  closest(selector: string): PageElement | null;
  contains(other: PageElement): boolean;
}

/** False below a dialog that still fades, or a message: a click would meet that. Runs in the page. */
function isUncovered(element: PageElement): boolean {
  const { left, top, width, height } = element.getBoundingClientRect();
  const seen = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
  const portal = seen?.closest('[data-portal]');
  return !portal || portal.contains(element);
}

function note(page: Page, url: string, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`script: ${String(error)}`));
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${url}/`) || request.url().startsWith('blob:');
    if (!isOwn) faults.push(`request: ${request.url()}`);
  });
}
