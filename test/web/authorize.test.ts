/** The decision about an application on the built page, in Chromium: from the official client's redirect and back to it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../src/surfaces/http/page.ts';
import { MEMBER_KEY } from '../surfaces/fakes/fake-services.ts';
import type { Harness } from '../surfaces/http/http-harness.ts';
import { connect, Kept, transportOf } from '../surfaces/http/oauth/app.ts';
import { peopleAt, startOAuth } from '../surfaces/http/oauth/oauth-harness.ts';
import { launch, type Visitor, visit } from './support/visitor.ts';

const HOSTILE_NAME = '<img src=x onerror=document.title=1> Mail';

let http: Harness;
let browser: Browser;
let application: Server;
let redirectUrl: string;
let visitor: Visitor;

beforeAll(async () => {
  const page = await readPage(join(import.meta.dirname, '../../web/dist'));
  if (!page) throw new Error('web/dist is missing: run `make web` first');
  http = await startOAuth({ page });
  application = createServer((_request, response) => response.end('<h1>Back in the application</h1>'));
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  redirectUrl = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
  browser = await launch();
  visitor = await visit(browser, peopleAt(http));
}, 60_000);

afterAll(async () => {
  await browser?.close();
  application?.closeAllConnections();
  application?.close();
  await http?.close();
});

async function asking(name: string): Promise<Kept> {
  const kept = new Kept({ name, redirectUrl });
  await expect(connect(http.url, kept)).rejects.toThrow();
  await visitor.page.goto(String(kept.sentTo));
  return kept;
}

const backAt = async () => {
  await visitor.sees('Back in the application');
  return new URL(visitor.page.url()).searchParams;
};
/** The way back to the application is the only one that leaves the page. */
const faults = () =>
  visitor.faults.splice(0).filter((fault) => !fault.startsWith(`request: ${new URL(redirectUrl).origin}/`));

describe('an application that asks', () => {
  it('is allowed after signing in, with as much as the person chooses', async () => {
    const kept = await asking(HOSTILE_NAME);
    await visitor.fill('API key', MEMBER_KEY);
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Allow an application?');
    await visitor.sees(HOSTILE_NAME);
    await visitor.sees(`a program on this computer (${new URL(redirectUrl).host})`);
    await visitor.sees('Ben (ben@example.org)');
    await visitor.sees('See your sandboxes and those of your teams, their files and their output');
    await visitor.sees(
      'Make, change and delete sandboxes, yours and those of your teams, and run anything in them',
    );
    expect(await visitor.page.title()).toBe('Allow an application · Sandhaven');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('Read the document database');
    await visitor.click('Allow');
    await transportOf(http.url, kept).finishAuth(await backAt());
    expect(kept.held?.scope).toBe('sandboxes:read sandboxes:write');
    const client = await connect(http.url, kept);
    const me = await client.callTool({ name: 'Sandbox_WhoAmI', arguments: {} });
    expect(me.structuredContent).toMatchObject({ email: 'ben@example.org' });
    await client.close();
    expect(faults()).toEqual([]);
  });

  it('hears it when the person denies', async () => {
    await asking('Unwanted');
    await visitor.sees('Unwanted');
    await visitor.click('Deny');
    expect((await backAt()).get('error')).toBe('access_denied');
    expect(faults()).toEqual([]);
  });

  it('is listed with the keys, and revoked from there', async () => {
    await visitor.go('/people');
    await visitor.sees('Connected applications');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click(`Revoke ${HOSTILE_NAME}`);
    await visitor.sees(`Revoke ${HOSTILE_NAME}?`);
    await visitor.click('Revoke');
    await visitor.page.waitForFunction(`!document.body.innerText.includes('Connected applications')`);
    expect(faults()).toEqual([]);
  });

  it('is shown in the browser that it asked in alone', async () => {
    const kept = new Kept({ redirectUrl });
    await expect(connect(http.url, kept)).rejects.toThrow();
    const elsewhere = await visit(browser, peopleAt(http));
    await elsewhere.page.goto(String(kept.sentTo));
    await elsewhere.page.waitForFunction(`location.pathname.startsWith('/authorize/')`);
    await visitor.page.goto(elsewhere.page.url());
    await visitor.sees('This browser has no such request of an application open.');
    expect(faults()).toEqual([]);
  });
});
