/** Registries' credentials over HTTP and on the command line: kept, shown without their passwords, never an argument. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RegistryService } from '../../src/control/images/registries.ts';
import type { RegistryCredentialStore } from '../../src/control/ports/index.ts';
import { everyRegistry } from '../../src/model/registries.ts';
import { memoryRegistryCredentials } from '../store/memory/memory-registries.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, createFakeServices, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const SECRET = 'cAnArY "word"\nof two lines';

let store: RegistryCredentialStore;
let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  store = memoryRegistryCredentials();
  const registries = new RegistryService({ store, rules: everyRegistry, clock: Date });
  http = await startHttp({ services: { ...createFakeServices().services, registries } });
  cli = cliFor(http.url);
});

afterEach(() => http.close());

async function act(name: string, parameters: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  const text = await response.text();
  expect(text).not.toContain('cAnArY');
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
}

const add = (registry: string, more = {}) =>
  act('AddRegistryCredentials', { registry, username: 'robot', password: SECRET, ...more });

describe('credentials of a registry', () => {
  it('are kept under one name for all its spellings, replaced and removed', async () => {
    expect(await add('Registry.Example:5000')).toMatchObject({
      body: { registry: 'registry.example:5000', username: 'robot' },
    });
    await add('registry.example:5000', { username: 'other' });
    await add('index.docker.io');
    const listed = (await act('ListRegistries', {})).body;
    expect(listed).toMatchObject({
      registries: [
        { registry: 'docker.io', username: 'robot' },
        { registry: 'registry.example:5000', username: 'other' },
      ],
      mirrors: [],
      allowed: null,
    });
    const removed = { registry: 'REGISTRY.example:5000' };
    expect(await act('RemoveRegistryCredentials', removed)).toMatchObject({ status: 200 });
    expect(await act('RemoveRegistryCredentials', removed)).toMatchObject({
      status: 404,
      body: { resource: 'registry' },
    });
  });

  it.each([
    ['registry', { registry: 'https://registry.example' }],
    ['registry', { registry: 'registry.example/team' }],
    ['registry', { registry: 'team' }],
    ['registry', { registry: '../x.y' }],
    ['username', { username: 'a:b' }],
    ['username', { username: '' }],
    ['password', { password: '' }],
    ['password', { password: 'cAnArY\0' }],
    ['password', { password: 'cAnArY'.repeat(9_999) }],
  ])('are refused with a wrong %s', async (parameter, wrong) => {
    expect(await add('registry.example', wrong)).toMatchObject({
      ...{ status: 400, body: { code: 'invalid_argument', parameter } },
    });
  });

  it('are nothing that a member may see', async () => {
    expect(await act('ListRegistries', {}, MEMBER_KEY)).toMatchObject({ status: 403 });
  });
});

it('the command line lists them in a table', async () => {
  await add('registry.example');
  expect((await cli(['registries'])).stdout).toMatch(
    /REGISTRY +USERNAME +UPDATED.*\nregistry\.example +robot +20/,
  );
});

describe('on the command line, the password', () => {
  const argv = ['registries', 'add', 'registry.example', '--username', 'robot'];
  const kept = async () => (await store.get('registry.example'))?.password;

  it('comes from standard input, without the line break at its end', async () => {
    expect(await cli(argv, { stdin: `${SECRET}\n` })).toMatchObject({ code: 0 });
    expect(await kept()).toBe(SECRET);
  });

  it('comes from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sandhaven-cli-'));
    try {
      writeFileSync(join(folder, 'password'), SECRET);
      expect(await cli([...argv, '--password-file', join(folder, 'password')])).toMatchObject({ code: 0 });
      expect(await kept()).toBe(SECRET);
      const missing = await cli([...argv, '--password-file', join(folder, 'none')]);
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('may come with all parameters as JSON', async () => {
    const stdin = JSON.stringify({ registry: 'registry.example', username: 'robot', password: SECRET });
    expect(await cli(['registries', 'add', '--parameters', '-'], { stdin })).toMatchObject({ code: 0 });
    expect(await kept()).toBe(SECRET);
  });

  it.each([[['--password', SECRET]], [[`--password=${SECRET}`]]])(
    'is no argument, and is not repeated when it is given as one',
    async (given) => {
      const { code, stdout, stderr } = await cli([...argv, ...given], { stdin: 'other' });
      expect(code).toBe(2);
      expect(stderr).toContain('standard input');
      expect(stdout + stderr).not.toContain('cAnArY');
      expect(await kept()).toBeUndefined();
    },
  );

  it('is asked for at a terminal', async () => {
    const { code, stderr } = await cli(argv);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^password: \n.*Nothing was typed/s)]);
  });

  it('is in no help as a flag', async () => {
    const { stdout } = await cli(['registries', 'add', '--help']);
    expect(stdout).toContain('--password-file');
    expect(stdout).not.toMatch(/--password\b(?!-)/);
  });
});
