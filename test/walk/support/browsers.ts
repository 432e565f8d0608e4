/** The two browsers of the walk, as Debian has them, both driven by Playwright. */
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, firefox } from 'playwright-core';
import { inject } from 'vitest';

export type BrowserName = 'chromium' | 'firefox';

declare module 'vitest' {
  export interface ProvidedContext {
    walkedBrowser?: BrowserName;
  }
}

/** Where Firefox saves files. */
export const downloadsPath = join(tmpdir(), `sandhaven-walk-${process.pid}`);

/** Browser of this project of tests. */
export const browserName = inject('walkedBrowser') ?? 'chromium';

const executables: Record<BrowserName, string[]> = {
  chromium: ['/usr/bin/chromium', '/usr/bin/chromium-browser'],
  firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
};

export async function launchBrowser(): Promise<Browser> {
  const name = browserName;
  const executablePath = executables[name].find(existsSync);
  if (!executablePath) throw new Error(`${name} is missing: \`make setup-checks\` installs it`);
  if (name === 'firefox') return launchFirefox(executablePath);
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** What Playwright puts text into a field by: the page itself, so that React takes it for its own change, and ignores it. */
export const typeIntoFirefox = `Object.defineProperty(window, '__pw_bidiInsertText', {
  get: () => (text) => void document.execCommand('insertText', false, text),
  set: () => {},
})`;

/** The parts of Playwright's own objects that `launchFirefox` changes. */
interface BidiBrowser {
  _browserSession: { send(method: string, parameters: unknown): Promise<unknown> };
}
interface Connected {
  _connection: { toImpl(browser: Browser): BidiBrowser };
}

/**
 * By WebDriver BiDi, the protocol of a Firefox that Playwright has not built. Playwright sends one command with each new
 * context that Firefox ESR does not know yet, the emulated media features; it is answered here.
 */
async function launchFirefox(executablePath: string): Promise<Browser> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath, downloadsPath });
  const session = (browser as unknown as Connected)._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, parameters) =>
    method === 'emulation.setMediaFeaturesOverride' ? {} : send(method, parameters);
  browser.on('disconnected', () => rmSync(downloadsPath, { recursive: true, force: true }));
  return browser;
}
