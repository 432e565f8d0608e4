/** Contexts: logging in, choosing a service, and where its key may go. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor, type Ran } from './cli-harness.ts';

let first: Harness;
let second: Harness;
let home: string;
let file: string;

beforeAll(async () => {
  first = await startHttp();
  second = await startHttp();
});

afterAll(() => Promise.all([first.close(), second.close()]));

beforeEach(async () => {
  for (const http of [first, second]) {
    http.sandboxes.clear();
    http.log.length = 0;
  }
  home = await mkdtemp(join(tmpdir(), 'sandhaven-contexts-'));
  file = join(home, '.config', 'sandhaven', 'contexts.json');
  return () => rm(home, { recursive: true });
});

/** Runs a command in the home, with nothing else in the environment but what is given. */
function cli(argv: string[], env: Record<string, string> = {}, stdin?: string): Promise<Ran> {
  return cliFor(first.url)(argv, { env: { HOME: home, ...env }, ...(stdin === undefined ? {} : { stdin }) });
}

function login(http: Harness, name: string, key = API_KEY): Promise<Ran> {
  return cli(['login', http.url, '--context', name], {}, `${key}\n`);
}

async function stored(): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

describe('login', () => {
  it('checks the key, stores it for its owner alone, and takes the service into use', async () => {
    const { code, stdout, stderr } = await cli(['login', `${first.url}/`], {}, `${API_KEY}\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Logged in to http:\/\/127\.0\.0\.1:\d+ as .+\. The context '127\.0\.0\.1:\d+' is in use\.\n$/,
    );
    expect(stdout).not.toContain(API_KEY);
    const name = new URL(first.url).host;
    expect(await stored()).toEqual({
      version: 1,
      current: name,
      contexts: { [name]: { url: first.url, key: API_KEY } },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(file, '..'))).toEqual(['contexts.json']);
    expect((await cli(['ls'])).code).toBe(0);
  });

  it('stores nothing when the service refuses the key', async () => {
    expect(await login(first, 'a', 'wrong')).toMatchObject({ code: 3 });
    await expect(stat(file)).rejects.toThrow();
  });

  it('keeps the file below XDG_CONFIG_HOME, and ignores a relative one', async () => {
    const env = { XDG_CONFIG_HOME: join(home, 'xdg') };
    await cli(['login', first.url], env, API_KEY);
    expect(await readdir(join(home, 'xdg', 'sandhaven'))).toEqual(['contexts.json']);
    await cli(['login', first.url], { XDG_CONFIG_HOME: 'relative' }, API_KEY);
    expect((await stat(file)).isFile()).toBe(true);
  });

  it.each([
    [['login'], 'No service is named.'],
    [['login', 'http://example.org'], 'Plain http would show the key to the network.'],
    [['login', 'http://127.0.0.1.example.org'], 'Plain http would show the key to the network.'],
    [['login', 'ftp://example.org'], 'not the URL of a service'],
    [['login', 'https://a:canary@example.org'], 'not the URL of a service'],
    [['login', 'https://example.org?key=canary'], 'not the URL of a service'],
    [['login', 'nonsense'], 'not the URL of a service'],
    [['login', 'https://example.org', 'canary'], 'it is never an argument'],
    [['login', 'https://example.org', '--context', '../x'], 'The name of a context'],
    [['login', 'https://example.org', '--key', 'canary'], 'it is never an argument'],
  ])('refuses %j before it reads a key', async (argv, said) => {
    const { code, stderr } = await cli(argv, {}, API_KEY);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('canary');
    await expect(stat(file)).rejects.toThrow();
  });

  it.each([[''], ['\n'], ['two words'], ['ä'], ['x'.repeat(1_001)], ['x'.repeat(10_000)]])(
    'refuses %j as a key, without a call',
    async (key) => {
      expect(await login(first, 'a', key)).toMatchObject({ code: 2 });
      expect(first.log).toEqual([]);
    },
  );

  it('replaces the key of the same service, and never that of another', async () => {
    await login(first, 'a');
    expect((await login(first, 'a', MEMBER_KEY)).code).toBe(0);
    expect(await stored()).toMatchObject({ contexts: { a: { key: MEMBER_KEY } } });
    const { code, stderr } = await login(second, 'a');
    expect(code).toBe(5);
    expect(stderr).toContain('sandhaven logout a');
    expect(await stored()).toMatchObject({ contexts: { a: { url: first.url } } });
  });
});

describe('the choice of service and key', () => {
  beforeEach(async () => {
    await login(first, 'one');
    await login(second, 'two');
    await first.call('Sandbox.CreateSandbox', { name: 'of-first' });
    await second.call('Sandbox.CreateSandbox', { name: 'of-second' });
  });

  it('is the current context, SANDHAVEN_CONTEXT before it, and --context before both', async () => {
    expect((await cli(['ls'])).stdout).toContain('of-second');
    expect((await cli(['ls'], { SANDHAVEN_CONTEXT: 'one' })).stdout).toContain('of-first');
    expect((await cli(['ls', '--context', 'two'], { SANDHAVEN_CONTEXT: 'one' })).stdout).toContain(
      'of-second',
    );
    expect((await cli(['--context', 'one', 'ls'])).stdout).toContain('of-first');
    expect((await cli(['--context=one', 'ls'])).stdout).toContain('of-first');
  });

  it('is the environment before any context', async () => {
    const env = { SANDBOX_API_URL: first.url, SANDBOX_API_KEY: API_KEY };
    expect((await cli(['ls'], env)).stdout).toContain('of-first');
    expect((await cli(['ls'], { ...env, SANDHAVEN_CONTEXT: 'two' })).stdout).toContain('of-first');
    expect((await cli(['ls', '--url', second.url], env)).stdout).toContain('of-second');
  });

  it('refuses --context beside the environment, in words', async () => {
    for (const env of [{ SANDBOX_API_URL: first.url }, { SANDBOX_API_KEY: API_KEY }]) {
      for (const argv of [
        ['ls', '--context', 'two'],
        ['--context', 'two', 'ls'],
      ]) {
        const { code, stderr } = await cli(argv, env);
        expect(code).toBe(2);
        expect(stderr).toContain(`${Object.keys(env)[0]} is set, and takes precedence over a context.`);
      }
    }
  });

  it('sends a stored key to no other origin', async () => {
    for (const [argv, env] of [
      [['ls', '--url', 'http://example.org:1'], {}],
      [['ls'], { SANDBOX_API_URL: 'https://example.org:1' }],
      [['ls', '--url', first.url, '--data-dir', '/none/such'], {}],
      [['ls', '--url', first.url], { SANDHAVEN_DATA_DIR: '/none/such' }],
    ] as [string[], Record<string, string>][]) {
      expect(await cli(argv, env)).toMatchObject({ code: 3 });
    }
    expect((await cli(['ls', '--url', second.url])).code).toBe(0);
    expect(first.log.filter(({ message }) => message.includes('denied'))).toEqual([]);
  });

  it('sends a key of the environment to no stored address', async () => {
    const { code, stderr } = await cli(['ls'], { SANDBOX_API_KEY: 'canary' });
    expect(code).not.toBe(0);
    expect(stderr).not.toContain(second.url);
    expect(second.log.filter(({ context }) => context['tool'] === 'Sandbox.ListSandboxes')).toEqual([]);
  });

  it('takes the local key file where --data-dir names it', async () => {
    const directory = join(home, 'data');
    await mkdir(directory);
    await writeFile(join(directory, 'api-key'), API_KEY);
    const { stdout } = await cli(['ls', '--data-dir', directory, '--url', first.url]);
    expect(stdout).toContain('of-first');
  });

  it('names the contexts that there are', async () => {
    const { code, stderr } = await cli(['ls', '--context', 'three']);
    expect(code).toBe(4);
    expect(stderr).toContain('There are one, two.');
    expect((await cli(['ls'], { SANDHAVEN_CONTEXT: 'constructor' })).code).toBe(4);
  });
});

describe('logout and context', () => {
  beforeEach(async () => {
    await login(first, 'one');
    await login(second, 'two');
  });

  it('logout removes the key of the context in use, or of the one that is named', async () => {
    expect((await cli(['logout'])).stdout).toContain(`The key of ${second.url} is removed`);
    expect(await stored()).toMatchObject({ current: null, contexts: { one: { key: API_KEY } } });
    expect((await cli(['logout'])).code).toBe(2);
    expect((await cli(['logout', 'one'])).code).toBe(0);
    expect(await stored()).toEqual({ version: 1, current: null, contexts: {} });
    expect((await cli(['logout', 'one'])).code).toBe(4);
  });

  it('lists, chooses and removes, and shows no key', async () => {
    const { stdout } = await cli(['context', 'ls']);
    expect(stdout).toMatch(/^ {3}NAME +URL\n {3}one +http.+\n\* {2}two +http.+\n$/);
    expect((await cli(['context', 'use', 'one'])).code).toBe(0);
    const listed = await cli(['context', 'ls', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual({
      contexts: [
        { name: 'one', url: first.url, current: true },
        { name: 'two', url: second.url, current: false },
      ],
    });
    expect(stdout + listed.stdout).not.toContain(API_KEY);
    const removed = await cli(['context', 'rm', 'one', 'none', 'two']);
    expect(removed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no context 'none'."),
    });
    expect(await stored()).toEqual({ version: 1, current: null, contexts: {} });
  });

  it('says that the environment takes precedence', async () => {
    const { stderr } = await cli(['context', 'use', 'one'], { SANDBOX_API_URL: 'http://127.0.0.1:9' });
    expect(stderr).toBe('SANDBOX_API_URL is set, and takes precedence. Unset it to use the context.\n');
  });

  it.each(['login', 'logout', 'context', 'context ls', 'context use', 'context rm'])(
    '%s has help',
    async (name) => {
      const { code, stdout } = await cli([...name.split(' '), '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: sandhaven ${name}`));
    },
  );
});

describe('the file', () => {
  const good = { version: 1, current: 'a', contexts: { a: { url: 'https://example.org', key: 'canary' } } };

  async function put(text: string, mode = 0o600): Promise<void> {
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    await chmod(file, mode);
  }

  it.each([
    ['no JSON', '{"canary'],
    ['another version', JSON.stringify({ ...good, version: 2 })],
    ['a current one that is not there', JSON.stringify({ ...good, current: 'b' })],
    [
      'a key with a line break',
      JSON.stringify({ ...good, contexts: { a: { ...good.contexts.a, key: 'canary\n' } } }),
    ],
    [
      'plain http',
      JSON.stringify({ ...good, contexts: { a: { url: 'http://example.org', key: 'canary' } } }),
    ],
    ['more fields', JSON.stringify({ ...good, contexts: { a: { ...good.contexts.a, header: 'canary' } } })],
    ['too much', JSON.stringify({ ...good, more: 'canary'.repeat(100_000) })],
  ])('is refused with %s, and not shown', async (_case, text) => {
    await put(text);
    const { code, stderr } = await cli(['ls']);
    expect(code).toBe(5);
    expect(stderr).toContain(file);
    expect(stderr).not.toContain('canary');
  });

  it('is refused when others can read it', async () => {
    await put(JSON.stringify(good), 0o644);
    const { code, stderr } = await cli(['context', 'ls']);
    expect(code).toBe(5);
    expect(stderr).toContain(`chmod 600 ${file}`);
  });

  it('holds at most 100 contexts', async () => {
    const contexts = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`c${index}`, { url: 'https://example.org', key: 'k' }]),
    );
    await put(JSON.stringify({ version: 1, current: null, contexts }));
    expect(await login(first, 'more')).toMatchObject({ code: 2, stderr: expect.stringContaining('100') });
    expect(await stored()).toMatchObject({ current: null });
  });

  it('is not read where flags and environment say all', async () => {
    await put('broken');
    const env = { SANDBOX_API_URL: first.url, SANDBOX_API_KEY: API_KEY };
    expect((await cli(['ls'], env)).code).toBe(0);
  });
});
