/** Completion: what may follow on a line, found without a shell. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forBash, readBashLine } from '../../../src/surfaces/cli/commands/completion.ts';
import { API_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  for (const name of ['demo', 'my box']) await http.call('Sandbox.CreateSandbox', { name });
  await http.call('Sandbox.CreateSnapshot', { name: 'tools', image: 'debian:13' });
});

afterAll(() => http.close());

/** Completes the last word: the line about the answer, and the candidates. */
async function following(words: string[], env?: Record<string, string>): Promise<[string, ...string[]]> {
  const { code, stdout, stderr } = await cli(['completion', 'words', '--', ...words], env ? { env } : {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [about = '', ...candidates] = stdout.trimEnd().split('\n');
  return [about, ...candidates.filter((one) => one !== '')];
}

describe('words', () => {
  it.each([
    [['sto'], ['', 'stop']],
    [['sna'], ['', 'snapshot', 'snapshots']],
    [
      ['snapshot', ''],
      ['', 'create', 'ls', 'inspect', 'rm'],
    ],
    [
      ['snapshot', 'in'],
      ['', 'inspect'],
    ],
    [
      ['context', ''],
      ['', 'ls', 'use', 'rm'],
    ],
    [
      ['keys', 'cr'],
      ['', 'create'],
    ],
    [
      ['processes', ''],
      ['', 'start', 'list', 'input', 'signal', 'resize', 'end', 'follow'],
    ],
    [
      ['files', 'watch', 'de'],
      ['', 'demo'],
    ],
    [
      ['processes', 'follow', 'de'],
      ['', 'demo'],
    ],
    [
      ['call', 'Sandbox.CreateSn'],
      ['', 'Sandbox.CreateSnapshot'],
    ],
    [
      ['completion', ''],
      ['', 'bash', 'zsh', 'fish'],
    ],
    [['none', ''], ['']],
    [['constructor', ''], ['']],
    [['snapshot', 'constructor', ''], ['']],
  ])('%j', async (words, expected) => {
    expect(await following(words)).toEqual(expected);
  });
});

describe('flags', () => {
  it.each([
    [
      ['create', '--me'],
      ['', '--memory-gb'],
    ],
    [
      ['create', '--language', ''],
      ['', 'python', 'typescript', 'javascript'],
    ],
    [
      ['create', '--language=ty'],
      ['', '--language=typescript'],
    ],
    [
      ['ls', '--state', 'sto'],
      ['', 'stopped'],
    ],
    [
      ['fork', '--'],
      [
        ...['', '--help', '--json', '--url', '--context', '--team', '--data-dir'],
        ...['--count', '--name', '--parameters'],
      ],
    ],
    [
      ['exec', '--ti'],
      ['', '--timeout'],
    ],
    [
      ['inspect', '--inc'],
      ['', '--include-raw-env-vars'],
    ],
    [
      ['call', 'Sandbox.GitClone', '--br'],
      ['', '--branch'],
    ],
    [['--vers'], ['', '--version']],
    [['run', '--file', ''], ['files']],
    [['exec', 'demo', '--', 'l'], ['files']],
  ])('%j', async (words, expected) => {
    expect(await following(words)).toEqual(expected);
  });
});

describe('names', () => {
  it.each([
    [
      ['stop', ''],
      ['', 'my box', 'demo'],
    ],
    [
      ['stop', 'demo', 'm'],
      ['', 'my box'],
    ],
    [
      ['exec', 'd'],
      ['', 'demo'],
    ],
    [
      ['exec', '--cwd', '/', 'd'],
      ['', 'demo'],
    ],
    [['exec', 'demo', 'd'], ['']],
    [
      ['cp', 'd'],
      ['files joined', 'demo:'],
    ],
    [['cp', './d'], ['files']],
    [['cp', 'demo:a'], ['']],
    [
      ['snapshot', 'rm', ''],
      ['', 'tools'],
    ],
    [
      ['create', '--snapshot', 't'],
      ['', 'tools'],
    ],
    [
      ['fork', 'd'],
      ['', 'demo'],
    ],
    [['fork', 'demo', 'd'], ['']],
    [
      ['snapshot', 'create', '--from', 'd'],
      ['', 'demo'],
    ],
    [
      ['create', '--snapshot=t'],
      ['', '--snapshot=tools'],
    ],
    [
      ['call', 'Sandbox.StopSandbox', '--sandbox', 'd'],
      ['', 'demo'],
    ],
  ])('%j', async (words, expected) => {
    expect(await following(words)).toEqual(expected);
  });

  it('come from the service that the line names', async () => {
    const env = { SANDBOX_API_KEY: API_KEY };
    expect(await following(['stop', '--url', http.url, 'd'], env)).toEqual(['', 'demo']);
    expect(await following(['stop', `--url=${http.url}`, 'd'], env)).toEqual(['', 'demo']);
  });

  it('are none, in silence, when the service is not there, refuses the key, or is slow', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const begun = performance.now();
    for (const env of [
      { SANDBOX_API_URL: 'http://127.0.0.1:9', SANDBOX_API_KEY: API_KEY },
      { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: 'wrong' },
      { SANDBOX_API_URL: `http://127.0.0.1:${port}`, SANDBOX_API_KEY: API_KEY },
      { SANDBOX_API_URL: 'nonsense' },
    ]) {
      expect(await following(['stop', ''], env)).toEqual(['']);
    }
    expect(performance.now() - begun).toBeLessThan(5_000);
    silent.closeAllConnections();
    silent.close();
  });

  it('that could control the terminal are left out', async () => {
    const names = ['good', 'a\u001b[2J', 'b\nc', 'ä'];
    const hostile = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ sandboxes: names.map((name) => ({ name })) }));
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const { port } = hostile.address() as AddressInfo;
    const env = { SANDBOX_API_URL: `http://127.0.0.1:${port}`, SANDBOX_API_KEY: API_KEY };
    expect(await following(['stop', ''], env)).toEqual(['', 'good']);
    hostile.closeAllConnections();
    hostile.close();
  });
});

describe('the line of bash', () => {
  it.each([
    ['sandhaven stop my\\ b', { words: ['sandhaven', 'stop', 'my b'], quote: null, kept: '' }],
    ['sandhaven stop "my b', { words: ['sandhaven', 'stop', 'my b'], quote: '"', kept: '' }],
    ["sandhaven stop 'a' ", { words: ['sandhaven', 'stop', 'a', ''], quote: null, kept: '' }],
    ['sandhaven ls --state=st', { words: ['sandhaven', 'ls', '--state=st'], quote: null, kept: '--state=' }],
    [
      'sandhaven context use 127.0.0.1:7',
      { words: ['sandhaven', 'context', 'use', '127.0.0.1:7'], quote: null, kept: '127.0.0.1:' },
    ],
    ['sandhaven cp ""', { words: ['sandhaven', 'cp', ''], quote: null, kept: '' }],
  ])('%s', (line, expected) => {
    expect(readBashLine(line, ' \t\n"\'><=;|&(:')).toEqual(expected);
  });

  it('gets names that bash cannot take for commands', () => {
    const hostile = ['$(reboot)', 'a;b', '`c`', "d'e"];
    const line = (quote: '"' | null) => ({ words: [''], quote, kept: '' });
    expect(forBash(hostile, line(null))).toEqual(['\\$\\(reboot\\)', 'a\\;b', '\\`c\\`', "d\\'e"]);
    expect(forBash([...hostile, 'my box'], line('"'))).toEqual(['my box']);
  });
});

it('prints a script for each shell, and refuses others', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await cli(['completion', shell], { env: {} });
    expect(code).toBe(0);
    expect(stdout).toContain(`# Completion of sandhaven for ${shell}`);
  }
  expect((await cli(['completion', 'tcsh'])).stderr).toContain(
    'Exactly one shell is needed: bash, zsh or fish.',
  );
  expect((await cli(['completion'])).code).toBe(2);
  expect((await cli(['completion', '--help'])).stdout).toMatch(/^Usage: sandhaven completion/);
});
