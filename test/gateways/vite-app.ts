/** A development server in a sandbox, and a browser that looks at it while its files change. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import puppeteer, { type Browser } from 'puppeteer-core';
import { expect } from 'vitest';
import { must } from '../support/service.ts';

/** Called as itself or by any other way that leads to it. */
interface Api {
  url: string;
  apiKey: string;
}

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const files = {
  'index.html': `<!doctype html><link rel="stylesheet" href="/style.css"><h1></h1>
    <script type="module" src="/main.js"></script>`,
  'style.css': 'h1 { color: rgb(1, 2, 3) }',
  'main.js': `import { message } from './message.js';
    const show = (text) => { document.querySelector('h1').textContent = text; };
    show(message);
    import.meta.hot.accept('./message.js', (changed) => show(changed.message));`,
  'message.js': 'export const message = "first";',
};
/** Evaluated in the page. */
const HEADING = "document.querySelector('h1')";
const COLOUR = `getComputedStyle(${HEADING}).color`;

/** @param folder Of the test; the browser keeps its profile there. */
export function startBrowser(folder: string, args: string[] = []): Promise<Browser> {
  return puppeteer.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
    userDataDir: join(folder, 'profile'),
    timeout: 90_000,
    protocolTimeout: 120_000,
  });
}

/** A first visit loads the page; then edits show in it, without its being loaded again. */
export async function expectHotReload(
  service: Api,
  browser: Browser,
  { sandbox, url }: { sandbox: string; url: string },
): Promise<void> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(url, { timeout: 90_000 });
  const eventually = (condition: string) => page.waitForFunction(condition, { timeout: 60_000 });
  await eventually(`${HEADING}.textContent === 'first'`);
  expect(await page.evaluate(COLOUR)).toBe('rgb(1, 2, 3)');
  await page.evaluate("document.title = 'never loaded again'");

  await must(service, 'WriteFile', {
    sandbox,
    path: 'app/message.js',
    content: 'export const message = "second";',
  });
  await eventually(`${HEADING}.textContent === 'second'`);
  await must(service, 'WriteFile', {
    sandbox,
    path: 'app/style.css',
    content: 'h1 { color: rgb(4, 5, 6) }',
  });
  await eventually(`${COLOUR} === 'rgb(4, 5, 6)'`);
  expect(await page.title()).toBe('never loaded again');
  expect(problems).toEqual([]);
}

/**
 * With the Vite that the tests themselves run on: nothing is fetched.
 * @param domain That Vite is to answer to.
 */
export async function serveVite(
  service: Api,
  { sandbox, folder, domain = 'localhost' }: { sandbox: string; folder: string; domain?: string },
): Promise<void> {
  const tar = join(folder, 'modules.tar');
  const names = [...withDependencies('vite')].map((name) => join('node_modules', name));
  await promisify(execFile)('tar', ['-C', join(modules, '..'), '-cf', tar, ...names]);
  const response = await fetch(`${service.url}/v1/sandboxes/${sandbox}/files?path=app/modules.tar`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/octet-stream' },
    body: readFileSync(tar),
  });
  expect(response.status).toBeLessThan(300);
  const config = `export default { server: { allowedHosts: ['.${domain}'] } };`;
  for (const [name, content] of Object.entries({ ...files, 'vite.config.js': config })) {
    await must(service, 'WriteFile', { sandbox, path: `app/${name}`, content });
  }
  const started = await must(service, 'RunCommand', {
    sandbox,
    cwd: 'app',
    command:
      'tar -xf modules.tar && rm modules.tar && (nohup node node_modules/vite/bin/vite.js > log 2>&1 &) ; ' +
      'for n in $(seq 1 900); do grep -q Local: log && exit 0; sleep 0.1; done; cat log; exit 1',
    timeout_seconds: 120,
  });
  expect(started).toMatchObject({ exit_code: 0 });
}

/** The packages that are here; others are of other platforms, or optional. */
function withDependencies(name: string, found = new Set<string>()): Set<string> {
  const text = readPackage(name);
  if (text === null || found.has(name)) return found;
  found.add(name);
  const { dependencies, optionalDependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
  for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) withDependencies(next, found);
  return found;
}

function readPackage(name: string): string | null {
  try {
    return readFileSync(join(modules, name, 'package.json'), 'utf8');
  } catch {
    return null;
  }
}
