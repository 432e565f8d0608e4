/** What the page asks for before its libraries are there. */
import type { HTTPRequest } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fetchOrTakeEarly } from '../../web/src/service/early-answers.ts';
import { type Opened, openPage } from './support/open-page.ts';

let opened: Opened;

beforeAll(async () => {
  opened = await openPage(3);
});
afterAll(() => opened?.close());

describe('a page that is opened', () => {
  it('has asked who is signed in, and for the first sandboxes, while the libraries are still away', async () => {
    const { page } = opened.visitor;
    const libraries: HTTPRequest[] = [];
    const asked: string[] = [];
    const hold = (request: HTTPRequest) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/v1/'))
        asked.push(`${request.method()} ${pathname} ${request.postData() ?? ''}`);
      if (/\/libraries-.*\.js$/.test(pathname)) libraries.push(request);
      else void request.continue();
    };
    await page.goto('about:blank');
    await page.setCacheEnabled(false);
    await page.setRequestInterception(true);
    page.on('request', hold);
    try {
      const loaded = page.goto(`${opened.url}/sandboxes`);
      await expect
        .poll(() => asked)
        .toEqual(['GET /v1/sign-in ', 'POST /v1/tools/Sandbox.ListSandboxes {"page":1,"page_size":100}']);
      expect(libraries).not.toEqual([]);
      for (const request of libraries) await request.continue();
      await loaded;
      await opened.visitor.sees('4 sandboxes');
    } finally {
      page.off('request', hold);
      await page.setRequestInterception(false);
      await page.setCacheEnabled(true);
    }
    expect(asked.filter((request) => request.startsWith('GET /v1/sign-in'))).toHaveLength(1);
    expect(opened.visitor.faults).toEqual([]);
  });

  it('asks for no sandboxes where it shows none', async () => {
    const { page } = opened.visitor;
    const asked: string[] = [];
    const note = (request: HTTPRequest) => void asked.push(new URL(request.url()).pathname);
    // The page before may still be asking.
    await page.goto('about:blank');
    page.on('request', note);
    await opened.visitor.go('/connect');
    page.off('request', note);
    expect(asked).toContain('/v1/sign-in');
    expect(asked).not.toContain('/v1/tools/Sandbox.ListSandboxes');
  });
});

describe('an early answer', () => {
  const open = (early: Promise<Response | null>) => {
    vi.stubGlobal('earlyAnswers', new Map([['GET /a ', early]]));
    vi.stubGlobal('fetch', async () => new Response('asked'));
  };
  const take = async () => (await fetchOrTakeEarly('/a', {})).text();

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it('is taken once', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(9_999);
    open(Promise.resolve(new Response('early')));
    expect([await take(), await take()]).toEqual(['early', 'asked']);
  });

  it('is not taken when it failed, was not asked for, or is ten seconds old', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1);
    open(Promise.reject(new Error('away')));
    expect(await take()).toBe('asked');
    open(Promise.resolve(null));
    expect(await take()).toBe('asked');
    now.mockReturnValue(10_001);
    open(Promise.resolve(new Response('early')));
    expect(await take()).toBe('asked');
  });
});
