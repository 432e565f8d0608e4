/** Teams, viewers and everybody's sandboxes in the built page, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEMBER_KEY } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { type Visitor, visit } from './support/visitor.ts';

let opened: Opened;
let admin: Visitor;

beforeAll(async () => {
  opened = await openPage(0);
  admin = opened.visitor;
  const { teams } = opened.world.services;
  await teams.create('red', {});
  await teams.setMember('red', 'ben@example.org', 'viewer');
}, 60_000);

afterAll(() => opened?.close());

describe('an admin', () => {
  it('sees everybody’s sandboxes with their owners, and deletes one', async () => {
    await admin.go('/sandboxes?whose=everybody');
    await admin.sees('ada@example.org');
    expect(await admin.broken()).toEqual([]);
    await admin.click('Delete demo');
    await admin.click('Delete');
    await admin.sees('0 sandboxes');
    expect(opened.world.sandboxes.size).toBe(0);
  });

  it('makes a team, and sees its members and quotas', async () => {
    await admin.go('/people');
    await admin.fill('Name of a new team', 'blue');
    await admin.click('New team');
    await admin.sees('Team blue created');
    await admin.go('/people');
    await admin.click('Remove Ben');
    await admin.sees('Remove Ben from red?');
    expect(await admin.broken()).toEqual([]);
    expect(admin.faults).toEqual([]);
  });
});

describe('a viewer of a team', () => {
  it('switches to it, sees what it owns, and makes nothing', async () => {
    const { services } = opened.world;
    const { id, name } = await services.teams.find('red');
    const team = { id, name, role: 'member' as const };
    const who = { id: 'user_2', name: 'Ben', email: 'ben@example.org', team };
    await services.sandboxes.create(who, { name: 'shared', language: 'python', labels: {} } as never);
    const viewer = await visit(opened.browser, opened.url);
    await viewer.signIn(MEMBER_KEY);
    await viewer.sees('Your first sandbox');
    await viewer.page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();
    await viewer.click('Team red');
    await viewer.sees('shared');
    await viewer.sees('for red');
    await viewer.page.waitForSelector('button[title="A viewer changes nothing."]:disabled');
    expect(await viewer.broken()).toEqual([]);
    expect(viewer.faults).toEqual([]);
  });
});
