/** A browser with an authenticator of its own, on pages of a service and of others. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'puppeteer-core';
import { type PageFiles, readPage } from '../../../../src/surfaces/http/page.ts';
import { startBrowser } from '../../../gateways/vite-app.ts';

const HTML = '<!doctype html><title>Page</title><body></body>';

export interface Machine {
  browser: Browser;
  page: PageFiles | null;
  /** Port of another server, whose pages are not the service's. */
  otherPort: number;
  close(): Promise<void>;
}

export async function startMachine(): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-passkeys-'));
  writeFileSync(join(folder, 'index.html'), HTML);
  // Before the browser puts its profile there.
  const page = await readPage(folder);
  const other = createServer((_, response) => void response.setHeader('content-type', 'text/html').end(HTML));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const browser = await startBrowser(folder);
  return {
    browser,
    page,
    otherPort: (other.address() as AddressInfo).port,
    async close() {
      await browser.close();
      other.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
  body: any;
}

/** Answer of a browser about a passkey, in JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests change what is in it
export type Response = any;

export interface Visit {
  page: Page;
  authenticator: Authenticator;
  go(url: string): Promise<void>;
  /** Sends a request as the service's page does. */
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** Has the authenticator make a passkey. */
  make(options: object): Promise<Response>;
  /** Has the authenticator sign. */
  sign(options: object): Promise<Response>;
  close(): Promise<void>;
}

export interface Authenticator {
  /** false: the person gives no fingerprint or PIN. */
  verifies(isVerified: boolean): Promise<void>;
  /** Sets the count of signatures back, as it is in a copy made earlier. */
  setCount(signCount: number): Promise<void>;
}

/**
 * Opens a profile of its own, with a new authenticator.
 * @param canVerify false: a security key without PIN.
 */
export async function visit({ browser }: Machine, canVerify = true): Promise<Visit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const session = await page.createCDPSession();
  const run = (script: string) => page.evaluate(script);
  return {
    page,
    authenticator: await addAuthenticator(session, canVerify),
    async go(url) {
      await page.goto(url);
    },
    async ask(method, path, body) {
      const headers = { 'x-sandhaven-request': '1', ...(body ? { 'content-type': 'application/json' } : {}) };
      const init = JSON.stringify({ method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      const sent = `fetch(${JSON.stringify(path)}, ${init})`;
      return (await run(`${sent}.then(async (r) => ({ status: r.status, body: await r.json() }))`)) as Answer;
    },
    make: (options) =>
      run(`navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}),
      }).then((made) => made.toJSON())`),
    sign: (options) =>
      run(`navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}),
      }).then((signed) => signed.toJSON())`),
    close: () => context.close(),
  };
}

async function addAuthenticator(session: CDPSession, canVerify: boolean): Promise<Authenticator> {
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: canVerify },
      ...{ isUserVerified: canVerify, automaticPresenceSimulation: true },
    },
  });
  return {
    async verifies(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    async setCount(signCount) {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
      await session.send('WebAuthn.clearCredentials', { authenticatorId });
      for (const credential of credentials) {
        await session.send('WebAuthn.addCredential', {
          authenticatorId,
          credential: { ...credential, signCount },
        });
      }
    },
  };
}
