/** The network of a sandbox in the built page, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';

let opened: Opened;
let visitor: Visitor;

const event = {
  ...{ at: Date.now(), kind: 'tls' as const, name: 'api.example.com', address: '203.0.113.7', port: 443 },
  ...{
    rule: null,
    secret: null,
    allowed: false,
    why: 'no rule allows it',
    sent: 0,
    received: 0,
    ended: false,
  },
};
const rows = 'document.querySelectorAll("[aria-label=\'Connections, table\'] tbody tr").length';

beforeAll(async () => {
  opened = await openPage(0);
  visitor = opened.visitor;
}, 60_000);

afterAll(async () => {
  await opened?.close();
  expect(visitor.faults).toEqual([]);
});

describe('the network of a sandbox', () => {
  it('is shown with what a ceiling leaves of it, and changed to rules', async () => {
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.click('open');
    await visitor.sees('The sandbox reaches everything public.');
    await visitor.sees('A ceiling allows less');
    await visitor.sees('https://*.example.com');
    await visitor.sees('Connections are logged while the sandbox has rules.');
    expect(await visitor.broken()).toEqual([]);
    await visitor.page.locator('label ::-p-text(Rules)').click();
    await visitor.page.locator('::-p-aria([name="git"][role="checkbox"])').click();
    await visitor.fill('Rules', 'https://one.example.com');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('Save network');
    await visitor.sees('Network saved');
    await visitor.page.waitForFunction("!document.body.innerText.includes('A ceiling allows less')");
    expect(opened.world.sandboxes.get(opened.demo)?.network).toEqual({
      ...{ mode: 'rules', profiles: ['git'], allow: ['https://one.example.com'] },
    });
  });

  it('says why a rule is refused, and leaves the network as it was', async () => {
    await visitor.fill('Rules', 'https://*.com');
    await visitor.click('Save network');
    await visitor.sees('anyone may have one below com');
    expect(await visitor.broken()).toEqual([]);
    expect(opened.world.sandboxes.get(opened.demo)?.network.allow).toEqual(['https://one.example.com']);
  });

  it('has a log that grows, whose refusals are ended by one click', async () => {
    const { demo, world } = opened;
    await visitor.go(`/sandboxes/${demo}/network`);
    await visitor.sees('Nothing yet.');
    world.reportNetwork({ ...event, sandbox: demo });
    await visitor.sees('no rule allows it');
    world.reportNetwork(
      { ...event, sandbox: demo, name: '<b>hostile</b>', why: 'the address is not public' },
      {
        ...event,
        sandbox: demo,
        allowed: true,
        why: null,
        ended: true,
        sent: 2048,
        rule: 'https://x.example',
      },
      { sandbox: demo, dropped: 7 },
    );
    await visitor.sees('<b>hostile</b>');
    await visitor.sees('2 KB');
    expect(await visitor.page.evaluate(rows)).toBe(3);
    await visitor.sees('7 events came too fast to be kept.');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('Only what was refused');
    await visitor.page.waitForFunction(`${rows} === 2`);
    await visitor.click('Allow https://api.example.com');
    await visitor.sees('https://api.example.com is allowed');
    expect(world.sandboxes.get(demo)?.network.allow).toEqual([
      'https://one.example.com',
      'https://api.example.com',
    ]);
  });
});
