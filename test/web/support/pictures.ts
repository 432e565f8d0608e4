/** Takes the pictures of the page in the README, into docs/images: `make pictures`. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY } from '../../surfaces/fakes/fake-services.ts';
import { servePage } from './page-server.ts';
import { launch, visit } from './visitor.ts';
import { createWorld } from './world.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'images');
/** Until menus and tables have moved into their places. */
const STILL_MS = 800;

const world = await createWorld(24);
const server = await servePage(world.services);
const browser = await launch();
try {
  await mkdir(folder, { recursive: true });
  const visitor = await visit(browser, server.url);
  await visitor.signIn(API_KEY);
  await visitor.sees('25 sandboxes');
  const demo = [...world.sandboxes.values()].find(({ name }) => name === 'demo')?.id ?? '';
  const take = async (name: string, path: string, theme: 'light' | 'dark') => {
    await visitor.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await visitor.go(path);
    await sleep(STILL_MS);
    await visitor.page.screenshot({ path: join(folder, `${name}.png`) });
  };
  await take('sandboxes', '/sandboxes', 'light');
  await take('sandbox', `/sandboxes/${demo}`, 'dark');
  await take('files', `/sandboxes/${demo}/files?path=/workspace/src&file=/workspace/src/main.py`, 'light');
  await take('people', '/people', 'light');
  await take('connect', '/connect', 'dark');
  await visitor.page.setViewport({ width: 360, height: 740 });
  await take('telephone', '/sandboxes', 'dark');
} finally {
  await browser.close();
  await server.close();
}
