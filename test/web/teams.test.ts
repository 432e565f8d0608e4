/** Teams, viewers and everybody's sandboxes in the built page, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEMBER_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { type Visitor, visit } from './support/visitor.ts';
import { addSandbox } from './support/world.ts';

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
  it('switches to it, sees what it owns, and changes nothing', async () => {
    const shared = await addShared('red');
    const viewer = await visit(opened.browser, opened.url);
    await viewer.signIn(MEMBER_KEY);
    await viewer.sees('Your first sandbox');
    await actFor('red', viewer);
    await viewer.sees('shared by red');
    await viewer.sees('for red');
    const disabled = async (name: string) => {
      const button = await viewer.page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);
      expect(await button?.evaluate((one) => [one.matches(':disabled'), one.getAttribute('title')])).toEqual([
        true,
        'Viewers cannot change anything.',
      ]);
    };
    await disabled('New sandbox');
    await viewer.go(`/sandboxes/${shared}/terminal`);
    await viewer.sees('Terminals are for members');
    await disabled('Stop');
    await disabled('Take snapshot');
    await disabled('Fork');
    await disabled('Delete');
    await viewer.go('/snapshots');
    await disabled('New snapshot');
    Object.assign(opened.world.sandboxes.get(shared) ?? {}, { state: 'stopped' });
    await viewer.go(`/sandboxes/${shared}/files`);
    await disabled('Start');
    await disabled('Start it');
    expect(await viewer.broken()).toEqual([]);
    expect(viewer.faults).toEqual([]);
  });
});

describe('a member of a team', () => {
  it('makes a key that is bound to the team, and sees whose it is', async () => {
    const { teams } = opened.world.services;
    await teams.create('green', {});
    await teams.setMember('green', 'ben@example.org', 'member');
    await addShared('green');
    const member = await visit(opened.browser, opened.url);
    await member.signIn(MEMBER_KEY);
    await member.sees('Your first sandbox');
    await actFor('green', member);
    await member.sees('shared by green');
    await member.go('/connect');
    await member.sees('A key made here is bound to the team that this tab acts for.');
    await member.click('Make a key');
    await member.fill('Name', 'agent of green');
    await member.click('Create');
    await member.sees('This is the only time that the key is shown');
    const key = await member.page.$eval('[role="dialog"] pre', (code) => code.textContent);
    const who = await fetch(`${opened.url}/v1/tools/Sandbox.WhoAmI`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await who.json()).toMatchObject({ team: { name: 'green' } });
    await member.go('/people');
    await member.page.waitForFunction(`[...document.querySelectorAll('[aria-label="API keys, table"] tbody tr')]
      .some(({ cells }) => cells[0].innerText === 'agent of green' && cells[1].innerText === 'green')`);
    expect(await member.broken()).toEqual([]);
    expect(member.faults).toEqual([]);
  });
});

/** @returns the id of a sandbox that the team owns. */
async function addShared(name: string): Promise<string> {
  const { services } = opened.world;
  const { id } = await services.teams.find(name);
  return addSandbox(services, `shared by ${name}`, 0, { ...user, team: { id, name, role: 'member' } });
}

async function actFor(team: string, visitor: Visitor): Promise<void> {
  await openMenu(visitor);
  await visitor.click(`Team ${team}`);
}

const openMenu = ({ page }: Visitor) =>
  page.locator('[class*="sideEnd"] button[aria-haspopup="menu"]').click();
