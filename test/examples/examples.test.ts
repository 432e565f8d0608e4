/**
 * The examples as a reader runs them, against a real service; a script takes the place of the model. The story has a real Git
 * server, a real browser and a real SSH client beside.
 */
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { linesOfCompared } from '../support/compared-program.ts';
import { startGitServer } from '../support/git-server.ts';
import { buildSdk, root, run, succeeds, tsc } from '../support/sdk-package.ts';
import { must, type Service, startService } from '../support/service.ts';

const examples = join(root, 'examples');
let service: Service;

beforeAll(async () => {
  await Promise.all([buildSdk(), installDependencies()]);
  service = await startService();
}, 300_000);

afterAll(() => service?.stop());

/** Nothing is left behind by any of them. */
afterEach(async () => {
  expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 0 });
});

/** Does nothing when what is installed is what the lock file says. */
async function installDependencies(): Promise<void> {
  const [wanted, installed] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
      stat(join(examples, file)).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      ),
    ),
  );
  if (installed && wanted && installed >= wanted) return;
  await succeeds('npm', ['ci', '--ignore-scripts'], examples);
}

async function output(script: string): Promise<string> {
  const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  const { status, stdout, stderr } = await run(process.execPath, [script], examples, env);
  expect(status, stderr).toBe(0);
  return stdout;
}

describe('the examples', () => {
  it('have types that fit', async () => {
    expect(await run(process.execPath, [tsc, '-p', '.'], examples)).toMatchObject({ status: 0, stdout: '' });
  }, 120_000);

  it('[WIRE-MCP-01] mcp-client lists tools and runs a command', async () => {
    const printed = await output('mcp-client/main.ts');
    expect(printed).toContain('12 tools, such as Sandbox_CreateSandbox');
    expect(printed).toContain('Hello from Linux\n42\n');
  }, 60_000);

  it('[WIRE-SDK-01] vercel-ai-sdk: a scripted model writes a program and runs it', async () => {
    const printed = await output('vercel-ai-sdk/without-model.ts');
    expect(printed).toContain('[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71]');
  }, 60_000);

  it('openai-agents: a scripted model makes a sandbox, runs code and deletes it', async () => {
    expect(await output('openai-agents/without-model.ts')).toContain(
      'The program printed 2880067194370816120.',
    );
  }, 60_000);
});

describe('the program that is compared with those of other clients', () => {
  it('prints what it is to print', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const folder = join(examples, 'node_modules');
    expect(await linesOfCompared({ client: 'Sandhaven', folder, env })).toEqual([
      ...['1', '3', '6', 'status 0', '1267650600228229401496703205376'],
      expect.stringMatching(/^http:\/\/8000-\w+\.localhost:\d+\/$/),
      ...['numbers.txt 6', ''],
    ]);
  }, 60_000);
});

describe('the story', () => {
  const PNG_SIGNATURE = '89504e470d0a1a0a';
  const project = join(examples, 'story/project');
  const user = { username: 'me', password: 'a-password-of-the-story' };

  it('an agent does a day’s work through MCP: clone, test, fix, push, serve, show, let in, archive, start', async () => {
    // What it imports is installed by now.
    const { tellStory } = await import('../../examples/story/story.ts');
    const folder = await mkdtemp(join(tmpdir(), 'sandhaven-story-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const remote = await startGitServer(user);
    onTestFinished(() => remote.close());
    const files = globSync('*', { cwd: project }).map((name) => [
      name,
      readFileSync(join(project, name), 'utf8'),
    ]);
    const url = remote.create('orders', Object.fromEntries(files));
    const screenshot = join(folder, 'story.png');
    const said: string[] = [];
    const outcome = await tellStory({
      url: service.url,
      apiKey: service.apiKey,
      repository: { url, ...user },
      screenshot,
      say: (line) => said.push(line),
    });
    expect(remote.git('orders', 'rev-parse', 'main').trim()).toBe(outcome.sha);
    expect(remote.git('orders', 'show', 'main:totals.py')).toContain('discount_percent / 100');
    expect(outcome.html).toContain('<strong id="total">30</strong>');
    expect(readFileSync(screenshot).toString('hex', 0, 8)).toBe(PNG_SIGNATURE);
    expect(outcome.sshOutput).toBe('totals: a discount is in percent\n');
    expect(said.at(-1)).toBe('deleted it');
    expect(service.log()).not.toContain(user.password);
  }, 240_000);
});
