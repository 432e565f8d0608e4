/** The built page over services in memory, with a visitor who is signed in. */
import type { Browser } from 'puppeteer-core';
import type { FakePeopleOptions } from '../../surfaces/fakes/fake-people.ts';
import { API_KEY } from '../../surfaces/fakes/fake-services.ts';
import { servePage } from './page-server.ts';
import { launch, type Visitor, visit } from './visitor.ts';
import { createWorld, type World } from './world.ts';

export interface Opened {
  world: World;
  url: string;
  browser: Browser;
  visitor: Visitor;
  /** ID of the sandbox named demo. */
  demo: string;
  close(): Promise<void>;
}

/** @param count Sandboxes beside demo. */
export async function openPage(count: number, people: FakePeopleOptions = {}): Promise<Opened> {
  const world = await createWorld(count, people);
  const server = await servePage(world.services);
  const browser = await launch();
  const visitor = await visit(browser, server.url);
  await visitor.signIn(API_KEY);
  await visitor.sees('Sandboxes');
  return {
    ...{ world, browser, visitor, url: server.url },
    demo: [...world.sandboxes.values()].find(({ name }) => name === 'demo')?.id ?? '',
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
