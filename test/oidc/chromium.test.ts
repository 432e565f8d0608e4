/** A real browser on the built page: it goes to the provider, which is another site, and comes back signed in. */
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPage } from '../../src/surfaces/http/page.ts';
import { launch, visit } from '../web/support/visitor.ts';
import { startWorld } from './support/signing-in.ts';

let chromium: Browser;

beforeAll(async () => {
  chromium = await launch();
}, 120_000);

afterAll(() => chromium?.close());

const DIST = join(import.meta.dirname, '../../web/dist');

it('signs in with the button, returns to its screen, and leaves no code in the address', async () => {
  const page = await readPage(DIST);
  if (!page) throw new Error('web/dist is missing: run `make web` first');
  // Another name than the provider's: browsers count the two as two sites.
  const world = await startWorld({ name: 'Keycloak' }, { page }, 'localhost');
  world.team.people.set('sub-1', {
    name: 'Grace',
    email: 'grace@example.org',
    email_verified: true,
    groups: ['dev'],
  });
  const guest = await visit(chromium, world.http.url);
  await guest.go('/snapshots');
  await guest.sees('or with a key');
  expect(await guest.broken()).toEqual([]);

  world.team.next = null;
  await guest.click('Sign in with Keycloak');
  await guest.sees('The identity provider did not sign you in.');
  expect(await guest.page.evaluate('document.cookie')).toBe('');

  world.team.next = 'sub-1';
  await guest.go('/snapshots');
  await guest.click('Sign in with Keycloak');
  await guest.sees('Grace');
  expect(await guest.page.evaluate('location.href')).toBe(`${world.http.url}/snapshots`);
  expect(await guest.page.evaluate('document.cookie')).toBe('');
  const others = guest.faults.filter((fault) => !fault.startsWith(`request: ${world.team.issuer}/`));
  expect(others).toEqual([]);
}, 120_000);
