/** A real browser: it keeps the cookie, and other sites that it opens get nothing by it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPage } from '../../../../src/surfaces/http/page.ts';
import { startBrowser } from '../../../gateways/vite-app.ts';
import { API_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

let folder: string;
let http: Harness;
let chromium: Browser;
/** A server of somebody else on this machine, such as a program in a sandbox that is forwarded. */
let other: Server;
let otherPort: number;
/** Hosts that it was asked for, with the cookies that it was sent. */
let leaked: string[];
let page: Page;

const HTML = '<!doctype html><title>Page</title><body></body>';
const CREATE = '/v1/tools/Sandbox.CreateSandbox';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-chromium-'));
  writeFileSync(join(folder, 'index.html'), HTML);
  const allowedHosts = ['localhost', '127.0.0.1', 'sandhaven.localhost'];
  http = await startHttp({ allowedHosts, page: await readPage(folder) });
  other = createServer((request, response) => {
    leaked.push(`${request.headers.host} ${request.headers.cookie ?? ''}`);
    response.setHeader('content-type', 'text/html').end(HTML);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  otherPort = (other.address() as AddressInfo).port;
  chromium = await startBrowser(folder);
}, 120_000);

afterAll(async () => {
  await chromium?.close();
  other?.close();
  await http?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  leaked = [];
  http.sandboxes.clear();
  const context = await chromium.createBrowserContext();
  page = await context.newPage();
  return () => context.close();
});

const at = (host: string) => `http://${host}:${http.port}`;

/** Runs in the page; a status, or 0 where the browser gave the page none. */
async function ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const init = JSON.stringify({
    ...{
      method,
      headers: { 'x-sandhaven-request': '1', ...(body ? { 'content-type': 'application/json' } : {}) },
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return (await page.evaluate(
    `fetch(${JSON.stringify(path)}, ${init}).then(async (r) => ({ status: r.status, text: await r.text() }))`,
  )) as { status: number; text: string };
}

async function signIn(host: string): Promise<void> {
  await page.goto(at(host));
  expect(await ask('POST', '/v1/sign-in', { api_key: API_KEY })).toMatchObject({ status: 200 });
}

describe('a browser', () => {
  it.each(['localhost', '127.0.0.1', 'sandhaven.localhost'])(
    'that signs in at http://%s stays so, and no script reads the cookie',
    async (host) => {
      await signIn(host);
      expect(await page.evaluate('document.cookie')).toBe('');
      await page.reload();
      expect((await ask('GET', '/v1/sign-in')).text).toContain('ada@example.org');
      expect((await ask('POST', CREATE, { name: 'mine' })).status).toBe(200);
      expect((await ask('DELETE', '/v1/sign-in')).status).toBe(200);
      expect((await ask('GET', '/v1/sign-in')).status).toBe(401);
    },
  );
});

describe('a page of somebody else', () => {
  /** All ways by which a page sends a request without asking first, and those by which it asks. */
  const attack = (target: string) => `(async () => {
    const body = '{"name":"forged"}';
    const tries = [
      { method: 'POST', mode: 'no-cors', credentials: 'include', body },
      { method: 'POST', mode: 'no-cors', credentials: 'include', body: new Blob([body]) },
      { method: 'POST', mode: 'cors', credentials: 'include', body,
        headers: { 'content-type': 'application/json', 'x-sandhaven-request': '1' } },
    ];
    for (const init of tries) await fetch('${target}${CREATE}', init).catch(() => {});
    navigator.sendBeacon('${target}${CREATE}', body);
    const read = await fetch('${target}/v1/sign-in', { credentials: 'include' }).then((r) => r.text(), () => 'nothing');
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.name = enctype;
      const form = document.body.appendChild(document.createElement('form'));
      Object.assign(form, { method: 'post', action: '${target}${CREATE}', enctype, target: enctype });
      form.append(Object.assign(document.createElement('input'), { name: '{"name":"forged","x":"', value: '"}' }));
      form.submit();
    }
    await new Promise((resolve) => {
      const socket = new WebSocket('${target.replace('http', 'ws')}/v1/sandboxes/box/tunnel?port=80');
      socket.onerror = socket.onopen = resolve;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    return read;
  })()`;

  it.each([
    ['another port of the same name', '127.0.0.1', '127.0.0.1'],
    ['another site', 'localhost', '127.0.0.1'],
    ['another name of this machine', 'sandhaven.localhost', 'evil.localhost'],
  ])('at %s does nothing and reads nothing', async (_where, own, evil) => {
    await signIn(own);
    const begun = http.log.length;
    await page.goto(`http://${evil}:${otherPort}`);
    expect(await page.evaluate(attack(at(own)))).toBe('nothing');
    expect([...http.sandboxes.values()]).toEqual([]);
    const tried = http.log.slice(begun).map(({ context }) => context['status']);
    expect(tried.length).toBeGreaterThanOrEqual(5);
    expect(tried.filter((status) => Number(status) < 400)).toEqual([]);
    await page.goto(at(own));
    expect((await ask('GET', '/v1/sign-in')).status).toBe(200);
  });

  it('gets the cookie on another port of the name that was signed in at, and not of the name in links', async () => {
    await signIn('127.0.0.1');
    await page.goto(`http://127.0.0.1:${otherPort}`);
    expect(leaked.join()).toContain('__Host-sandhaven=');
    leaked = [];
    await signIn('sandhaven.localhost');
    for (const host of ['localhost', 'evil.localhost', '3000-0000000000000001.localhost']) {
      await page.goto(`http://${host}:${otherPort}`);
    }
    // A late picture of the first name's page may come in between.
    const others = leaked.filter((visit) => !visit.startsWith('127.0.0.1:'));
    expect(others.length).toBeGreaterThanOrEqual(3);
    expect(others.join()).not.toContain('__Host-sandhaven=');
  });

  it('cannot set the cookie for a subdomain, or frame the page', async () => {
    await page.goto(`http://evil.localhost:${otherPort}`);
    await page.evaluate("document.cookie = '__Host-sandhaven=chosen; Path=/; Secure; Domain=localhost'");
    await page.evaluate("document.cookie = '__Host-sandhaven=chosen; Path=/; Domain=sandhaven.localhost'");
    const frame = (url: string) =>
      page.evaluate(
        `document.body.append(Object.assign(document.createElement('iframe'), { src: '${url}' }))`,
      );
    const framed = () => page.frames().map((one) => one.url());
    await frame(`http://localhost:${otherPort}/`);
    await frame(`${at('sandhaven.localhost')}/`);
    await frame(`${at('sandhaven.localhost')}/healthz`);
    await expect
      .poll(framed)
      .toEqual([
        `http://evil.localhost:${otherPort}/`,
        `http://localhost:${otherPort}/`,
        'chrome-error://chromewebdata/',
        'chrome-error://chromewebdata/',
      ]);
    await page.goto(at('sandhaven.localhost'));
    expect((await ask('GET', '/v1/sign-in')).text).toContain('The request has no API key.');
  });
});
