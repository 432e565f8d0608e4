/** An admin who looks inside the sandbox of another user, where the operator allows it, in the built page. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { servePage } from './support/page-server.ts';
import { visit } from './support/visitor.ts';
import { addSandbox, createWorld } from './support/world.ts';

let opened: Opened;

beforeAll(async () => {
  opened = await openPage(0, { adminsReadInside: true });
}, 60_000);

afterAll(() => opened?.close());

const ben = { ...user, id: 'user_2', name: 'Ben', email: 'ben@example.org', role: 'member' } as const;

it('shows files as a viewer sees them, with a way back', async () => {
  const { visitor, world } = opened;
  const box = await addSandbox(world.services, 'box of ben', 0, ben);
  await visitor.go('/sandboxes?whose=everybody');
  await Promise.all([visitor.page.waitForNavigation(), visitor.click('Look inside box of ben')]);
  await visitor.sees('for ben@example.org');
  await visitor.page.waitForSelector('::-p-aria([name="Delete"][role="button"]):disabled');
  await visitor.go(`/sandboxes/${box}/files`);
  await visitor.sees('README.md');
  expect(await visitor.broken()).toEqual([]);
  await visitor.go(`/sandboxes/${box}/processes`);
  await visitor.click('web: make serve');
  await visitor.sees('It printed nothing.');
  for (const name of ['Start', 'Signal', 'End', 'Forget', 'Send']) {
    expect(await visitor.page.$(`::-p-aria([name="${name}"][role="button"])`)).toBeNull();
  }
  await visitor.go(`/sandboxes/${box}/terminal`);
  await visitor.sees('Terminals are for members');
  await visitor.page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();
  await visitor.sees('Inside ben@example.org');
  await Promise.all([visitor.page.waitForNavigation(), visitor.click('Yourself')]);
  await visitor.sees('demo');
  expect(await visitor.page.evaluate('document.body.innerText')).not.toContain('box of ben');
  expect(visitor.faults).toEqual([]);
}, 60_000);

it('is not offered where the operator does not allow it', async () => {
  const strict = await servePage((await createWorld(0)).services);
  const visitor = await visit(opened.browser, strict.url);
  await visitor.signIn(API_KEY);
  await visitor.sees('Sandboxes');
  await visitor.go('/sandboxes?whose=everybody');
  await visitor.sees('Delete');
  expect(await visitor.page.evaluate('document.body.innerText')).not.toContain('Look inside');
  await strict.close();
}, 60_000);
