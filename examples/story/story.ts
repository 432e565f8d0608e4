/**
 * What an agent does with a sandbox in a working day, driven only through MCP: it clones a private repository, runs its
 * tests, finds the bug, fixes it, commits and pushes, starts the web server and shows it, lets a person in by SSH, and
 * comes back to everything after an archive.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface StoryOptions {
  /** Of the service, such as http://127.0.0.1:7420. */
  url: string;
  apiKey: string;
  /** A private repository that holds the files of `project/`. */
  repository: { url: string; username: string; password: string };
  /** Where the picture of the web page goes. */
  screenshot: string;
  say(line: string): void;
}

export interface StoryOutcome {
  /** What was pushed. */
  sha: string;
  /** The page as the browser had it. */
  html: string;
  /** What the person saw who came in by SSH. */
  sshOutput: string;
}

type Result = Record<string, unknown>;
type Use = (tool: string, parameters: Result) => Promise<Result>;

const PORT = 8000;
const FIXED_FILE = 'orders/totals.py';
const run = promisify(execFile);

export async function tellStory(options: StoryOptions): Promise<StoryOutcome> {
  const client = new Client({ name: 'story', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', options.url), {
      requestInit: { headers: { authorization: `Bearer ${options.apiKey}` } },
    }),
  );
  const use: Use = async (tool, parameters) => {
    const answer = await client.callTool({ name: `Sandbox_${tool}`, arguments: parameters });
    const result = answer.structuredContent as Result;
    if (answer.isError) throw new Error(`${tool}: ${JSON.stringify(result['error'])}`);
    return result;
  };
  const { id } = await use('CreateSandbox', { labels: { example: 'story' } });
  const sandbox = String(id);
  options.say(`created ${sandbox}`);
  try {
    return await workIn(sandbox, use, options);
  } finally {
    await use('DeleteSandbox', { sandbox });
    options.say('deleted it');
    await client.close();
  }
}

async function workIn(sandbox: string, use: Use, options: StoryOptions): Promise<StoryOutcome> {
  const { say } = options;
  const within: Use = (tool, parameters) => use(tool, { sandbox, ...parameters });
  await within('GitClone', { ...options.repository, path: 'orders' });
  say('cloned the private repository');
  const sha = await fixTheBug(within, say);
  await startServer(within);
  say(`the web server listens on port ${PORT}`);
  const html = await showPage(within, options.screenshot);
  say(`the page is in ${options.screenshot}`);
  const sshOutput = await comeInBySsh(within);
  say('a person was in by SSH');
  await within('StopSandbox', {});
  await within('ArchiveSandbox', {});
  await within('StartSandbox', {});
  const { content } = await within('ReadFile', { path: FIXED_FILE });
  if (!String(content).includes('/ 100')) throw new Error('the fix did not survive the archive');
  say('archived it and started it again: everything is there');
  return { sha, html, sshOutput };
}

/** Test, search, replace, test, commit, push. */
async function fixTheBug(within: Use, say: StoryOptions['say']): Promise<string> {
  const test = () => within('RunCommand', { command: 'python3 -m unittest', cwd: 'orders' });
  const before = await test();
  if (before['exit_code'] === 0) throw new Error('the tests pass already');
  say('its tests fail');
  const found = await within('SearchContent', { query: 'discount_percent / [0-9]+', path: 'orders' });
  const [file] = found['files'] as { path: string }[];
  if (!file) throw new Error('the bug was not found');
  await within('ReplaceInFiles', {
    pattern: '(discount_percent) / 10$',
    replacement: '\\1 / 100',
    files: [file.path],
  });
  const after = await test();
  if (after['exit_code'] !== 0) throw new Error(`the tests still fail: ${after['output']}`);
  say(`fixed ${file.path}: its tests pass`);
  await within('GitAdd', { path: 'orders', files: ['totals.py'] });
  const { sha } = await within('GitCommit', {
    path: 'orders',
    message: 'totals: a discount is in percent',
    author_name: 'An agent',
    author_email: 'agent@example.org',
  });
  await within('GitPush', { path: 'orders' });
  say(`pushed ${String(sha).slice(0, 12)}`);
  return String(sha);
}

async function startServer(within: Use): Promise<void> {
  const { session_id } = await within('CreateSession', {});
  await within('RunSessionCommand', {
    session_id,
    command: `cd orders && python3 server.py ${PORT}`,
    async_exec: true,
  });
  for (let tries = 0; tries < 100; tries++) {
    const { ports } = await within('ListPorts', {});
    if ((ports as { port: number }[]).some(({ port }) => port === PORT)) return;
    await sleep(100);
  }
  throw new Error('the web server did not start');
}

/** The signed URL needs no header, so a browser can open it. */
async function showPage(within: Use, screenshot: string): Promise<string> {
  const { url } = await within('GetPortPreviewUrl', { port: PORT, signed: true, expires_in_seconds: 300 });
  const profile = await mkdtemp(join(tmpdir(), 'story-browser-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`];
  try {
    await run('chromium', [...flags, `--screenshot=${screenshot}`, '--window-size=800,400', String(url)]);
    const { stdout } = await run('chromium', [...flags, '--dump-dom', String(url)]);
    return stdout;
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

/** The host key comes with the access, so the connection is verified from the first time on. */
async function comeInBySsh(within: Use): Promise<string> {
  const { host, port, access_token, host_key } = await within('CreateSshAccess', { expires_in_minutes: 5 });
  const folder = await mkdtemp(join(tmpdir(), 'story-ssh-'));
  try {
    const knownHosts = join(folder, 'known_hosts');
    await writeFile(knownHosts, `[${host}]:${port} ${host_key}\n`);
    const { stdout } = await run('ssh', [
      '-F',
      'none',
      '-o',
      `UserKnownHostsFile=${knownHosts}`,
      '-o',
      'StrictHostKeyChecking=yes',
      '-p',
      String(port),
      `${access_token}@${host}`,
      'git -C orders log -1 --format=%s',
    ]);
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { SANDBOX_API_URL, SANDBOX_API_KEY, REPOSITORY_URL, REPOSITORY_USERNAME, REPOSITORY_PASSWORD } =
    process.env;
  if (!SANDBOX_API_URL || !SANDBOX_API_KEY || !REPOSITORY_URL) {
    process.stderr.write(await readFile(join(import.meta.dirname, 'README.md'), 'utf8'));
    process.exit(2);
  }
  const outcome = await tellStory({
    url: SANDBOX_API_URL,
    apiKey: SANDBOX_API_KEY,
    repository: {
      url: REPOSITORY_URL,
      username: REPOSITORY_USERNAME ?? 'git',
      password: REPOSITORY_PASSWORD ?? '',
    },
    screenshot: join(process.cwd(), 'story.png'),
    say: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`);
}
