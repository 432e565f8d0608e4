/** Changes on the page, as they happen. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { user } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(5);
  visitor = opened.visitor;
}, 60_000);

afterAll(() => opened?.close());

describe('changes', () => {
  it('show how far a snapshot is that is being made, and what became of it', async () => {
    const { snapshots, snapshotEvents } = opened.world.services;
    const made = await snapshots.create(user, { name: 'slow', image: 'debian:13' } as never);
    Object.assign(made, { ownerId: user.id, state: 'pulling' });
    await visitor.go('/snapshots');
    await visitor.sees('slow');
    await expect
      .poll(async () => {
        snapshotEvents.progress(made, { message: 'Fetching debian:13', done: 3_000_000, total: 9_000_000 });
        return visitor.page.evaluate('document.body.innerText');
      })
      .toMatch(/Fetching debian:13\s+2\.86 MB \/ 8\.58 MB/);
    expect(await visitor.broken()).toEqual([]);
    Object.assign(made, { state: 'error', stateReason: 'The registry <b>refused</b> it.' });
    snapshotEvents.changed(made);
    await visitor.sees('The registry <b>refused</b> it.');
  });

  it('show what a started sandbox uses, as a line with a text beside it', async () => {
    await visitor.go(`/sandboxes/${opened.demo}`);
    await visitor.page.waitForSelector('svg[aria-label^="Memory of the last minutes, 4.77 MB"]');
    await visitor.page.waitForSelector('svg[aria-label^="CPU of the last minutes"] polyline[points]');
    expect(await visitor.broken()).toEqual([]);
    await visitor.go('/sandboxes?name=demo');
    await visitor.page.waitForSelector('[role="row"] svg[aria-label="4.77 MB in use"]');
    expect(await visitor.broken()).toEqual([]);
  });

  it('show new rows of the log, where the filter lets them through', async () => {
    await visitor.go('/activity?action=Sandbox.GetSnapshot');
    await visitor.sees('No call matches');
    await visitor.page.evaluate(`fetch('/v1/tools/Sandbox.GetSnapshot', { method: 'POST', body: '{"snapshot":"none"}',
      headers: { 'content-type': 'application/json', 'x-sandhaven-request': '1' } })`);
    await visitor.page.waitForSelector('[aria-label="Calls, table"] tbody tr');
    await visitor.sees('Sandbox.GetSnapshot');
    await visitor.page.waitForFunction("document.querySelectorAll('tbody tr').length === 1");
  });

  it('show the health anew, with each finding where it stood', async () => {
    const { health } = opened.world.services;
    await visitor.go('/health');
    await visitor.sees('1 started of 2');
    await visitor.sees('Watch the free space.');
    const texts = () => visitor.page.evaluate('document.body.innerText') as Promise<string>;
    expect(await texts()).toMatch(/9\.0 GiB free.*version 2/s);
    await visitor.page.evaluate('window.isSame = true');
    const glance = health.glance.bind(health);
    vi.spyOn(health, 'glance').mockImplementation(async () => {
      const seen = await glance();
      const moment = { time: Date.now(), freeMemoryBytes: 1, freeDiskBytes: 3_221_225_472 };
      return {
        ...{ ...seen, sandboxes: { total: 9, started: 7, paused: 0 } },
        samples: [...seen.samples, { ...moment, residentBytes: 1, loopDelayMs: 0 }],
        doctor: {
          checkedAt: Date.now(),
          findings: [
            { name: 'cgroups', status: 'fail', found: 'version 1' },
            { name: 'disk', status: 'ok', found: '90.0 GiB free' },
          ],
        },
      };
    });
    await visitor.sees('7 started of 9');
    expect(await texts()).toMatch(/90\.0 GiB free.*version 1/s);
    await visitor.page.waitForSelector('svg[aria-label="Free disk of the last half hour, 3 GB now"]');
    expect(await visitor.page.evaluate('window.isSame')).toBe(true);
    expect(await visitor.page.$$('#content [aria-live], #content [role="status"]')).toEqual([]);
    expect(await visitor.broken()).toEqual([]);
  });

  it('show in every tab as they happen, by one stream', async () => {
    const second = await visitor.another();
    await second.sees('6 sandboxes');
    await visitor.go('/sandboxes?name=demo');
    await visitor.sees('started');
    const sandbox = opened.world.sandboxes.get(opened.demo);
    if (sandbox) sandbox.name = 'demo-renamed';
    opened.world.services.events.wrote(opened.demo);
    await visitor.sees('demo-renamed');
    await second.go('/sandboxes?name=demo');
    opened.world.sandboxes.set(opened.demo, { ...(sandbox as NonNullable<typeof sandbox>), name: 'demo' });
    opened.world.services.events.wrote(opened.demo);
    for (const tab of [visitor, second]) {
      await tab.page.bringToFront();
      await tab.page.waitForFunction("!document.body.innerText.includes('demo-renamed')");
    }
    expect(second.faults).toEqual([]);
    await second.page.close();
    expect(visitor.faults).toEqual([]);
  });
});
