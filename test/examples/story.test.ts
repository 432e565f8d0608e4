/** The story, against a real service, a real Git server, a real browser and a real SSH client. */
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tellStory } from '../../examples/story/story.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { must, type Service, startService } from '../support/service.ts';

const PNG_SIGNATURE = '89504e470d0a1a0a';
const project = join(import.meta.dirname, '../../examples/story/project');
const user = { username: 'me', password: 'a-password-of-the-story' };

let service: Service;
let remote: GitServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-story-'));
  remote = await startGitServer(user);
  service = await startService();
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
  await rm(folder, { recursive: true, force: true });
});

it('an agent does a day’s work through MCP: clone, test, fix, push, serve, show, let in, archive, start', async () => {
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
  expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 0 });
  expect(service.log()).not.toContain(user.password);
}, 240_000);
