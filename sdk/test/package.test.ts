/** The package as others install it: packed, installed without a network, type-checked, run on Node and in a browser. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installSdk, run, tsc } from '../../test/support/sdk-package.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { pageScript, pageSees } from './page.ts';
import { type PageServer, servePage } from './same-origin.ts';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

let folder: string;
let service: Service;
/** Has the service behind it. */
let page: PageServer;

beforeAll(async () => {
  folder = await installSdk();
  service = await startService();
  page = await servePage(dist(), service);
}, 180_000);

afterAll(async () => {
  await page?.close();
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
}, 60_000);

const installed = () => join(folder, 'node_modules', '@sandhaven', 'sdk');
const dist = () => join(installed(), 'dist');

/** What a user of the package would write, with the types it relies on spelled out. */
const consumer = `
import { isSandhavenError, type ListSandboxesResult, type Sandbox, type SandboxHandle, Sandhaven, SandhavenError } from '@sandhaven/sdk';

const client = new Sandhaven();
const created: Sandbox = await client.createSandbox({ name: 'consumer', cpu: 1, memory_gb: 1, disk_gb: 1 });
try {
  const state: 'started' | 'stopped' | 'archived' | 'error' = created.state;
  const ran = await client.runCommand({ sandbox: created.id, command: 'echo $0' });
  const exit: number = ran.exit_code;
  const upload = await client.files.upload(created.id, 'bytes.bin', new Uint8Array([0, 255, 10]));
  const download = await client.files.download(created.id, 'bytes.bin', { start: 1 });
  const bytes = [...(await download.bytes())];
  const names: string[] = [];
  for await (const sandbox of client.iterate.listSandboxes({ page_size: 1 })) names.push(sandbox.name);
  const list: ListSandboxesResult = await client.listSandboxes();
  let code = '';
  try {
    await client.getSandbox({ sandbox: 'nobody' });
  } catch (error) {
    if (!isSandhavenError(error, 'not_found')) throw error;
    code = error instanceof SandhavenError ? error.code : '';
  }
  const box: SandboxHandle = client.sandbox(created.id);
  const inBox: string = (await box.run('pwd', { cwd: '/tmp', onStdout: () => {} })).stdout;
  console.log(JSON.stringify({ state, exit, inBox, written: upload.bytes_written, bytes, names, total: list.total_count, code }));
} finally {
  await client.deleteSandbox({ sandbox: created.id });
}
`;

const misuse = `
import { Sandhaven } from '@sandhaven/sdk';
const client = new Sandhaven({ apiKey: 'k' });
// @ts-expect-error a parameter that does not exist
client.createSandbox({ nmae: 'x' });
// @ts-expect-error a required parameter is missing
client.getSandbox({});
// @ts-expect-error a value that is not among the enum's
client.createSandbox({ language: 'perl' });
// @ts-expect-error text where a number is wanted
client.runCommand({ command: 'ls', timeout_seconds: '5' });
// @ts-expect-error a field that results do not have
client.whoAmI().then(({ password }) => password);
// @ts-expect-error a parameter of another tool
client.sandbox('demo').run('ls', { start_line: 1 });
`;

describe('the package', () => {
  it('ships JavaScript with its types and nothing else, and depends on nothing', async () => {
    const files = globSync('**/*', { cwd: installed(), withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
    expect(files).toContain('index.js');
    expect(
      files.filter((name) => !/^(?:package\.json|README\.md|LICENSE|[\w-]+\.(?:js|d\.ts))$/.test(name)),
    ).toEqual([]);
    const manifest = JSON.parse(await readFile(join(installed(), 'package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.exports['.']).toEqual({ types: './dist/index.d.ts', default: './dist/index.js' });
  });

  it('needs nothing of Node', async () => {
    for (const file of globSync('dist/*.js', { cwd: installed() })) {
      const source = await readFile(join(installed(), file), 'utf8');
      expect(source, file).not.toMatch(/from ['"](?!\.\/)|\brequire\(|\bBuffer\b/);
    }
  });

  it.each([
    ['a browser', ['es2022', 'dom', 'dom.iterable'], []],
    ['Node', ['es2022'], ['node']],
  ])('[WIRE-SDK-01] type-checks a consumer for %s, and its mistakes', async (_where, lib, types) => {
    await writeFile(join(folder, 'consumer.ts'), consumer);
    await writeFile(join(folder, 'misuse.ts'), misuse);
    const typeRoots = [join(import.meta.dirname, '..', '..', 'node_modules', '@types')];
    const compilerOptions = {
      ...{ target: 'es2022', module: 'nodenext', strict: true, lib, types, typeRoots },
      ...{ outDir: 'out', exactOptionalPropertyTypes: true },
    };
    const shim = lib.includes('dom') ? '' : "/// <reference lib='esnext.disposable' />\n";
    await writeFile(join(folder, 'shim.d.ts'), shim);
    const files = ['consumer.ts', 'misuse.ts', 'shim.d.ts'];
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(await run(process.execPath, [tsc, '-p', 'tsconfig.json'], folder)).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  /** This Node, and where the machine has another one that the package promises to run on, that one too. */
  const nodes = [process.execPath, ...['/usr/bin/node', '/usr/local/bin/node'].filter(isPromised)];

  function isPromised(node: string): boolean {
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) >= 20;
  }

  it.each(nodes)(
    '[WIRE-SDK-01, WIRE-CLI-03] works on %s against a real service, configured by environment',
    async (node) => {
      const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
      const { status, stdout, stderr } = await run(node, ['out/consumer.js'], folder, env);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(JSON.parse(stdout)).toEqual({
        state: 'started',
        exit: 0,
        inBox: '/tmp\n',
        written: 3,
        bytes: [255, 10],
        names: ['consumer'],
        total: 1,
        code: 'not_found',
      });
    },
    60_000,
  );
});

describe('the SDK in a browser', () => {
  it('[WIRE-SDK-01] works with the globals of the web alone', async () => {
    const realm = join(import.meta.dirname, 'web-realm.ts');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    const { status, stdout, stderr } = await run(
      process.execPath,
      [...flags, realm, dist(), page.url],
      folder,
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(pageSees);
  }, 60_000);

  it.skipIf(!chromium)(
    '[WIRE-SDK-01] works in Chromium',
    async () => {
      const browser = await puppeteer.launch({
        executablePath: chromium ?? '',
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
      try {
        const tab = await browser.newPage();
        await tab.goto(page.url);
        // An empty url is the page's own origin.
        expect(await tab.evaluate(`import('/sdk/index.js').then((sdk) => (${pageScript})(sdk, ''))`)).toEqual(
          pageSees,
        );
      } finally {
        await browser.close();
      }
    },
    120_000,
  );

  it('a page of another site is refused, whatever key it has', async () => {
    const response = await fetch(`${service.url}/v1/tools/Sandbox.WhoAmI`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        origin: 'https://elsewhere.example',
      },
      body: '{}',
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
