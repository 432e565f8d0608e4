/** The service behind nginx, as docs/reverse-proxy.md sets it up: names of the world, a wildcard, one port. */
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { expectHotReload, serveVite, startBrowser } from '../gateways/vite-app.ts';
import { type MadeCertificate, makeCertificate } from '../support/certificates.ts';
import { askSecure, type Secure } from '../support/secure.ts';
import { must, type Service, startService } from '../support/service.ts';
import { type Nginx, startNginx } from './nginx.ts';
import {
  carriesCalls,
  carriesLargeBodies,
  carriesMcpStreams,
  carriesPreviews,
  serveSample,
} from './traffic.ts';

const API = 'sandhaven.example.com';

let certificate: MadeCertificate;
let service: Service;
let nginx: Nginx;
let api: Secure;
let sandbox: string;

beforeAll(async () => {
  certificate = makeCertificate([`DNS:${API}`, 'DNS:*.previews.example.com']);
  service = await startService({
    flags: [
      ...['--public-url', `https://${API}`, '--preview-url', 'https://*.previews.example.com'],
      ...['--trusted-proxy', '127.0.0.1'],
    ],
  });
  const previews = await vi.waitFor(() => {
    const [, port = expect.fail('not logged')] = /"previews":"[^"]*:(\d+)"/.exec(service.log()) ?? [];
    return Number(port);
  });
  nginx = await startNginx({ certificate, api: Number(new URL(service.url).port), previews });
  api = { port: nginx.port, host: API, ca: certificate.pem() };
  sandbox = await serveSample(service);
}, 120_000);

afterAll(async () => {
  await nginx?.stop();
  await service?.stop();
  certificate?.remove();
});

async function preview(port: number): Promise<URL> {
  const { url } = await must(service, 'GetPortPreviewUrl', { sandbox, port, signed: true });
  return new URL(String(url));
}

it('calls, large bodies and MCP streams come through, by the public name', async () => {
  await carriesCalls(api, service);
  await carriesLargeBodies(api, service, sandbox);
  await carriesMcpStreams(api, service, sandbox);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const { text } = await askSecure(api, '/openapi.json', { headers });
  expect(JSON.parse(text)).toMatchObject({ servers: [{ url: `https://${API}` }] });
}, 120_000);

it('a client cannot set its own address', async () => {
  const before = service.log().length;
  await askSecure(api, '/healthz', {
    headers: { 'x-forwarded-for': '6.6.6.6', 'x-forwarded-host': 'evil.example' },
  });
  await expect.poll(() => service.log().slice(before)).toContain('"route":"/healthz"');
  expect(service.log().slice(before)).not.toContain('6.6.6.6');
  await expect(askSecure({ ...api, host: 'evil.example' }, '/')).rejects.toThrow();
});

it('[SBX-PREVIEW-04] [WIRE-PREVIEW-04] previews are on names under the wildcard, with events and upgrades', async () => {
  const { href, hostname } = await preview(3000);
  expect(href).toMatch(/^https:\/\/3000-[a-z2-7]{26}\.previews\.example\.com\/$/);
  await carriesPreviews({ ...api, host: hostname }, '127.0.0.1');
}, 60_000);

it('[WIRE-PREVIEW-04] a browser sees a development server reload what is edited', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-proxied-'));
  let browser: Browser | null = null;
  try {
    await serveVite(service, { sandbox, folder, domain: 'previews.example.com' });
    browser = await startBrowser(folder, [
      `--host-resolver-rules=MAP *.previews.example.com:443 127.0.0.1:${nginx.port}`,
      `--ignore-certificate-errors-spki-list=${publicKeyDigest(certificate.pem())}`,
    ]);
    await expectHotReload(service, browser, { sandbox, url: (await preview(5173)).href });
  } finally {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 240_000);

/** The browser believes this key alone, and no other that it does not know. */
function publicKeyDigest(pem: string): string {
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}
