/** Snapshots, rollbacks and forks of a sandbox, on its page and in the lists. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';
import { addSandbox } from './support/world.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(2);
  visitor = opened.visitor;
}, 60_000);

afterAll(async () => {
  expect(visitor?.faults).toEqual([]);
  await opened?.close();
});

const names = () => [...opened.world.sandboxes.values()].map(({ name }) => name).toSorted();

/** Of the dialog, whose action has the name of the button that opened it. */
const confirm = () => visitor.page.locator('[role="dialog"] button[type="submit"]').click();

describe('a sandbox', () => {
  it('is kept as a snapshot, which the list shows with it', async () => {
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.click('Take snapshot');
    await visitor.sees('This sandbox stands still while its disk is copied, and goes on.');
    await visitor.fill('Name of the snapshot', 'point');
    expect(await visitor.broken()).toEqual([]);
    await confirm();
    await visitor.sees('Snapshot point taken');
    await visitor.go('/snapshots');
    await visitor.sees('sandbox demo');
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.click('Take snapshot');
    await visitor.fill('Name of the snapshot', 'point');
    await confirm();
    await visitor.sees("The name 'point' is taken.");
  });

  it('is put back to a snapshot of it, which stops what runs', async () => {
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.click('Roll back');
    await visitor.sees('The files become those of the snapshot, and later changes are lost.');
    await visitor.click('Snapshot');
    await visitor.click('point');
    expect(await visitor.broken()).toEqual([]);
    await confirm();
    await visitor.sees('demo rolled back');
    const [other] = [...opened.world.sandboxes.values()].filter(({ name }) => name === 'worker-1');
    await visitor.go(`/sandboxes/${other?.id}`);
    await visitor.click('Roll back');
    await visitor.sees('There is no snapshot of this sandbox yet: take one first.');
  });

  it('is forked, and the page says which forks did not start', async () => {
    await addSandbox(opened.world.services, 'way-2', 0);
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.click('Fork');
    const count = await visitor.page.waitForSelector('::-p-aria([name="How many"])');
    await count?.click({ count: 3 });
    await count?.type('3');
    await visitor.fill('Name of the forks', 'way');
    expect(await visitor.broken()).toEqual([]);
    await confirm();
    await visitor.sees('2 sandboxes forked');
    await visitor.sees('1 fork not started');
    await visitor.sees("The name 'way-2' is taken.");
    expect(names()).toEqual(['demo', 'way-1', 'way-2', 'way-3', 'worker-1', 'worker-2']);
  });
});
