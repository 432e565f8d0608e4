/**
 * `make bench-page`: measures the page in Chromium over services in memory, so that nothing but the page is measured.
 * Prints the frames while 5,000 sandboxes are scrolled, and Lighthouse's points for a list of 500. Fails below 95 on a
 * desktop; a telephone is measured as Lighthouse simulates it, four times slower and on a slow network.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { API_KEY } from '../../test/surfaces/fakes/fake-services.ts';
import { servePage } from '../../test/web/support/page-server.ts';
import { createWorld } from '../../test/web/support/world.ts';
import { audit, type Form } from './lighthouse.ts';
import { measureScrolling } from './scrolling.ts';

const LEAST_POINTS = 95;
const SCROLLED = 5_000;
const AUDITED = 500;

const folder = await mkdtemp(join(tmpdir(), 'sandhaven-bench-page-'));
try {
  await withPage(SCROLLED, async (page) => {
    const { frames, medianMs, p99Ms, longestMs, late } = await measureScrolling(page);
    const times = [medianMs, p99Ms, longestMs].map((ms) => `${ms.toFixed(1)} ms`).join(', ');
    console.info(
      `scrolling ${SCROLLED} sandboxes, ${frames} frames: median, p99, longest ${times}; ${late} late`,
    );
  });
  await withPage(AUDITED, async (page, port) => {
    for (const form of ['desktop', 'mobile'] as const) await printAudit(page.url(), port, form);
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function printAudit(url: string, port: number, form: Form): Promise<void> {
  const { performance, accessibility, lost } = await audit(url, port, form, join(folder, `${form}.json`));
  console.info(
    `lighthouse, ${form}, ${AUDITED} sandboxes: performance ${performance}, accessibility ${accessibility}`,
  );
  for (const line of lost) console.info(`  ${line}`);
  const least = form === 'desktop' ? Math.min(performance, accessibility) : accessibility;
  if (least < LEAST_POINTS) process.exitCode = 1;
}

/** The list, signed in, in a browser whose debugger listens on the port. */
async function withPage(count: number, work: (page: Page, port: number) => Promise<void>): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const server = await servePage((await createWorld(count)).services);
  cleanup.defer(() => server.close());
  const port = await freePort();
  const context = await chromium.launchPersistentContext(join(folder, `profile-${count}`), {
    ...{ executablePath: '/usr/bin/chromium', viewport: { width: 1280, height: 800 } },
    args: ['--no-sandbox', '--disable-dev-shm-usage', `--remote-debugging-port=${port}`],
  });
  cleanup.defer(() => context.close());
  await work(await signedIn(context, server.url, count), port);
}

async function signedIn(context: BrowserContext, url: string, count: number): Promise<Page> {
  const [page = await context.newPage()] = context.pages();
  await page.goto(url);
  await page.getByLabel('API key').fill(API_KEY);
  await page.keyboard.press('Enter');
  await page
    .getByText(`${(count + 1).toLocaleString('en')} sandboxes`)
    .first()
    .waitFor();
  return page;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
