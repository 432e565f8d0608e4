/** What a preview is mostly for: a development server in a sandbox, seen in a browser while files change. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, it } from 'vitest';
import { must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { expectHotReload, serveVite, startBrowser } from './vite-app.ts';

let service: SharedService;
let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-vite-'));
  [service, browser] = await Promise.all([sharedService(), startBrowser(folder)]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('[SBX-PREVIEW-04] [WIRE-PREVIEW-04] a first visit to a signed URL loads a Vite server, which then reloads what is edited', async () => {
  const { id } = await must(service, 'CreateSandbox', { cpu: 2, memory_gb: 2, disk_gb: 2 });
  const sandbox = String(id);
  await serveVite(service, { sandbox, folder });
  const { url } = await must(service, 'GetPortPreviewUrl', { sandbox, port: 5173, signed: true });

  await expectHotReload(service, browser, { sandbox, url: String(url) });
}, 240_000);
