/** Passkeys and passwords in the built page, with an authenticator of the browser. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { API_KEY } from '../surfaces/fakes/fake-services.ts';
import { type PageServer, servePage } from './support/page-server.ts';
import { launch, type Visitor, visit } from './support/visitor.ts';
import { createWorld, type World } from './support/world.ts';

const PASSWORD = 'four words chosen at random';

let world: World;
let server: PageServer;
let browser: Browser;
let guest: Visitor;

beforeAll(async () => {
  // Before the services take it as their clock.
  vi.useFakeTimers({ toFake: ['Date'] });
  world = await createWorld(null);
  server = await servePage(world.services);
  const home = server.url.replace('127.0.0.1', 'sandhaven.localhost');
  world.services.passkeys.servedAt(home);
  browser = await launch();
  guest = await visit(browser, home);
  guest.page.setDefaultTimeout(60_000);
  const session = await guest.page.createCDPSession();
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  vi.useRealTimers();
});

async function signOut(): Promise<void> {
  await guest.page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();
  // The list of signed-in browsers has a button of this name too.
  await guest.page.locator('::-p-aria([name="Sign out"][role="menuitem"])').click();
  await guest.sees('Sign in with a passkey');
}

it('a person sets a password and signs in with it', async () => {
  await guest.signIn(API_KEY);
  await guest.sees('Your first sandbox');
  await guest.go('/people');
  await guest.click('Set a password');
  await guest.fill('New password', 'too short');
  await guest.click('Save');
  await guest.sees('A password is at least 12 characters long.');
  expect(await guest.broken()).toEqual([]);
  await guest.fill('New password', PASSWORD);
  await guest.click('Save');
  await guest.sees('The password is set');
  await signOut();
  expect(await guest.broken()).toEqual([]);
  await guest.fill('Email or name', 'ada@example.org');
  await guest.fill('Password', PASSWORD);
  await guest.click('Sign in with a password');
  await guest.sees('People and keys');
}, 120_000);

it('a person adds a passkey, signs in with it, and with the password no more', async () => {
  await guest.go('/people');
  await guest.click('Add a passkey');
  await guest.fill('Name', 'Laptop');
  await guest.click('Add');
  await guest.sees('Laptop added');
  await guest.sees('It does not sign in while you have a passkey.');
  expect(await guest.broken()).toEqual([]);
  await signOut();
  await guest.fill('Email or name', 'ada@example.org');
  await guest.fill('Password', PASSWORD);
  await guest.click('Sign in with a password');
  await guest.sees('A user with a passkey signs in with that');
  await guest.click('Sign in with a passkey');
  await guest.sees('People and keys');
}, 120_000);

it('a sign-in of a quarter of an hour ago is renewed before a passkey goes, and the loss is named', async () => {
  vi.setSystemTime(Date.now() + 16 * 60_000);
  await guest.go('/people');
  await guest.click('Remove Laptop');
  await guest.sees('Once you have no passkey, your password alone signs in.');
  await guest.click('Remove');
  await guest.sees('Ways of signing in can only be changed within 15 minutes of a sign-in.');
  expect(await guest.broken()).toEqual([]);
  await guest.click('Sign in with a passkey');
  await guest.sees('Laptop removed');
  await guest.sees('A passkey signs you in with a fingerprint, a face or a PIN of this device.');
}, 120_000);

it('does nothing that the policy forbids', () => {
  expect(guest.faults).toEqual([]);
});
