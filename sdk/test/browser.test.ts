/** The built SDK in a browser, against a real service behind the page's own server. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installSdk, run } from '../../test/support/sdk-package.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { pageScript, pageSees } from './page.ts';
import { type PageServer, servePage } from './same-origin.ts';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

let folder: string;
let dist: string;
let service: Service;
let page: PageServer;

beforeAll(async () => {
  folder = await installSdk();
  dist = join(folder, 'node_modules', '@sandhaven', 'sdk', 'dist');
  service = await startService();
  page = await servePage(dist, service);
}, 180_000);

afterAll(async () => {
  await page?.close();
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
}, 60_000);

describe('the SDK in a browser', () => {
  it('[WIRE-SDK-01] works with the globals of the web alone', async () => {
    const realm = join(import.meta.dirname, 'web-realm.ts');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    const { status, stdout, stderr } = await run(process.execPath, [...flags, realm, dist, page.url], folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(pageSees);
  }, 60_000);

  it.skipIf(!chromium)(
    '[WIRE-SDK-01] works in Chromium',
    async () => {
      const browser = await puppeteer.launch({
        executablePath: chromium ?? '',
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
      try {
        const tab = await browser.newPage();
        await tab.goto(page.url);
        // An empty url is the page's own origin.
        expect(await tab.evaluate(`import('/sdk/index.js').then((sdk) => (${pageScript})(sdk, ''))`)).toEqual(
          pageSees,
        );
      } finally {
        await browser.close();
      }
    },
    120_000,
  );

  it('a page of another site is refused, whatever key it has', async () => {
    const response = await fetch(`${service.url}/v1/tools/Sandbox.WhoAmI`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        origin: 'https://elsewhere.example',
      },
      body: '{}',
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
