/** Every screen with real content, in three sizes and two themes: a picture of each, and no fault that axe finds. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf, takePicture } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

const THEMES = ['light', 'dark'] as const;
/** The largest takes half of the time of this file. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 3840, height: 2160 },
];

const service = inject('sharedService');
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser?.close());

describe('the first screen', () => {
  it.each(THEMES)('asks who it is, %s', async (theme) => {
    const walker = await walkerOf(browser, service, `Stranger ${theme}`, { width: 360, height: 740 });
    await walker.context.clearCookies();
    await walker.go('/');
    await walker.wear(theme);
    await walker.sees('API key');
    expect(await faultsOf(walker.page)).toEqual([]);
    await takePicture(walker.page, `sign-in-360-${theme}`);
    await walker.close();
  });
});

describe.each(SIZES)('at $width × $height', ({ width, height }) => {
  let looker: Walker;
  let sandbox: string;

  beforeAll(async () => {
    const options = { role: 'admin', width, height } as const;
    looker = await walkerOf(browser, service, `Looker ${width}`, options);
    sandbox = await furnish(looker);
  });

  afterAll(() => looker?.close());

  it('every screen is whole, light and dark', async () => {
    const found: string[] = [];
    for (const [name, path] of screens(sandbox)) {
      await looker.go(path);
      for (const theme of THEMES) {
        await looker.wear(theme);
        for (const fault of await faultsOf(looker.page)) found.push(`${name}, ${theme}: ${fault}`);
        await takePicture(looker.page, `${name}-${width}-${theme}`);
      }
    }
    expect(found).toEqual([]);
  });

  it.each(dialogs)('the dialog "$button" is whole', async ({ path, button, name }) => {
    await looker.go(path);
    await looker.click(button);
    await looker.page.getByRole('dialog').waitFor();
    expect(await faultsOf(looker.page)).toEqual([]);
    await takePicture(looker.page, `${name}-${width}`);
  });
});

const dialogs = [
  { path: '/sandboxes', button: 'New sandbox', name: 'new-sandbox' },
  { path: '/snapshots', button: 'New snapshot', name: 'new-snapshot' },
  { path: '/people', button: 'New user', name: 'new-user' },
  { path: '/people', button: 'New key', name: 'new-key' },
];

function screens(sandbox: string): [name: string, path: string][] {
  const tab = (name: string) => `/sandboxes/${sandbox}/${name}`;
  return [
    ['sandboxes', '/sandboxes'],
    ['everybody', '/sandboxes?whose=everybody'],
    ['overview', `/sandboxes/${sandbox}`],
    ['files', `${tab('files')}?file=/workspace/repo/main.py`],
    ['terminal', `${tab('terminal')}?terminal=main`],
    ...['sessions', 'processes', 'code', 'git', 'network', 'access'].map((name): [string, string] => [
      name,
      tab(name),
    ]),
    ...['snapshots', 'activity', 'people', 'connect', 'documents', 'health'].map((name): [string, string] => [
      name,
      `/${name}`,
    ]),
    ['nowhere', '/sandboxes/sb_aaaaaaaaaaaaaaaa'],
  ];
}

/** A sandbox with something on each of its tabs, and a stopped one beside it. */
async function furnish({ sdk }: Walker): Promise<string> {
  const size = { cpu: 1, memory_gb: 1, disk_gb: 1 };
  const labels = { team: 'research', purpose: 'a label that is longer than most labels are' };
  const { id: sandbox } = await sdk.createSandbox({ ...size, name: 'furnished', labels });
  const { id: stopped } = await sdk.createSandbox({ ...size, name: 'a-name-that-is-long'.repeat(3) });
  await sdk.stopSandbox({ sandbox: stopped });
  await sdk.writeFile({ sandbox, path: 'repo/main.py', content: 'import json\n\nprint(json.dumps([1]))\n' });
  await sdk.runCommand({
    ...{ sandbox, cwd: 'repo' },
    command:
      'git init -q && git add . && git -c user.name=Ada -c user.email=ada@example.org commit -qm "Add main" && ' +
      '(nohup python3 -m http.server 8123 >/dev/null 2>&1 &)',
  });
  const { session_id } = await sdk.createSession({ sandbox });
  await sdk.runSessionCommand({ sandbox, session_id, command: 'echo done' });
  await sdk.processes.start(sandbox, 'sleep 600', { tag: 'waiting' });
  return sandbox;
}
