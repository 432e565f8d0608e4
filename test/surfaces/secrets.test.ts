/** Secrets over HTTP, on the command line and by the SDK. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const VALUE = 'canary-3f6d20';
const TARGET = 'https://api.example.com';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

async function post(path: string, parameters: unknown) {
  const response = await fetch(`${http.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const act = (name: string, parameters: object = {}) => post(`admin/${name}`, parameters);

describe('over HTTP', () => {
  it('a secret is created, and shown without its value', async () => {
    const created = await act('CreateSecret', { name: 'http', value: VALUE, targets: [TARGET] });
    expect(created.body).toMatchObject({
      ...{ secret_id: expect.stringMatching(/^se_[0-9a-z]{16}$/), name: 'http', variable: 'HTTP' },
      ...{ targets: [TARGET], place: 'bearer', expires_at: null },
    });
    const listed = await act('ListSecrets');
    expect(listed.body).toEqual({ secrets: [created.body] });
    expect(JSON.stringify([created, listed])).not.toContain(VALUE);
  });

  it.each([
    [{ name: 'a b' }, 'name'],
    [{ name: 'se_0' }, 'name'],
    [{ value: 'x'.repeat(8_193) }, 'value'],
    [{ value: `${VALUE}\n` }, 'value'],
    [{ value: 'short' }, 'value'],
    [{ value: 7 }, 'value'],
    [{ targets: [] }, 'targets'],
    [{ targets: ['http://api.example.com'] }, 'targets'],
    [{ targets: ['https://*.co.uk'] }, 'targets'],
    [{ place: 'cookie' }, 'place'],
    [{ variable: 'A-B' }, 'variable'],
    [{ expires_in_minutes: -1 }, 'expires_in_minutes'],
  ])('%j is refused, and no value is repeated', async (wrong, parameter) => {
    const given = { name: 'wrong', value: VALUE, targets: [TARGET], ...wrong };
    const { status, body } = await act('CreateSecret', given);
    expect([status, body['parameter']]).toEqual([400, parameter]);
    expect(JSON.stringify(body)).not.toContain(VALUE);
  });

  it('a creation takes secrets by name, and a sandbox shows them, alone and not in lists', async () => {
    const box = { name: 'box', secrets: ['http'] };
    const secrets = [{ name: 'http', variable: 'HTTP' }];
    expect((await post('tools/Sandbox.CreateSandbox', box)).body).toMatchObject({ secrets });
    expect((await post('tools/Sandbox.GetSandbox', { sandbox: 'box' })).body).toMatchObject({ secrets });
    const { sandboxes } = (await post('tools/Sandbox.ListSandboxes', {})).body as { sandboxes: object[] };
    expect(sandboxes[0]).not.toHaveProperty('secrets');
    const none = await post('tools/Sandbox.CreateSandbox', { name: 'other', secrets: ['none'] });
    expect(none).toMatchObject({ status: 404, body: { resource: 'secret' } });
  });
});

describe('on the command line', () => {
  it('the value is read from standard input or a file, and is no argument', async () => {
    const made = await cli(['secrets', 'create', 'piped', TARGET], { stdin: `${VALUE}\n` });
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('PIPED') });
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-secrets-'));
    try {
      writeFileSync(join(folder, 'value'), `${VALUE}\n`);
      const argv = ['secrets', 'create', 'filed', TARGET, '--place', 'header:x-key'];
      const filed = await cli([...argv, '--value-file', join(folder, 'value'), '--json']);
      expect(JSON.parse(filed.stdout)).toMatchObject({ name: 'filed', place: 'header:x-key' });
      const refused = await cli(['secrets', 'create', 'shown', TARGET, '--value', VALUE]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('not taken as an argument') });
      const asked = await cli(['secrets', 'create', 'asked', TARGET]);
      expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/^value: \n/)]);
      expect(JSON.stringify([made, filed, asked])).not.toContain(VALUE);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('sandboxes are created with secrets, given others, and have them taken', async () => {
    const created = await cli(['create', '--name', 'cli', '--secret', 'piped', '--secret=filed', '--json']);
    expect(JSON.parse(created.stdout)).toMatchObject({ secrets: [{ name: 'filed' }, { name: 'piped' }] });
    const taken = await cli(['secrets', 'take', 'cli', 'filed']);
    expect([taken.code, taken.stdout]).toEqual([0, expect.stringContaining('piped')]);
    expect(taken.stdout).not.toContain('filed');
    const given = await cli(['secrets', 'give', 'cli', 'filed', '--json']);
    expect(JSON.parse(given.stdout)).toMatchObject({ secrets: [{ name: 'filed' }, { name: 'piped' }] });
  });

  it('secrets are updated, rotated, listed and deleted', async () => {
    const updated = await cli([
      'secrets',
      'update',
      'piped',
      `GET ${TARGET}/v1`,
      '--variable',
      'KEY',
      '--json',
    ]);
    expect(JSON.parse(updated.stdout)).toMatchObject({ targets: [`GET ${TARGET}/v1`], variable: 'KEY' });
    const rotated = await cli(['secrets', 'rotate', 'piped'], { stdin: 'another value' });
    expect([rotated.code, rotated.stdout]).toEqual([0, expect.stringContaining('KEY')]);
    const listed = await cli(['secrets']);
    for (const name of ['http', 'filed', 'piped']) expect(listed.stdout).toContain(name);
    expect(await cli(['secrets', 'delete', 'piped'])).toMatchObject({ code: 0 });
    expect((await cli(['secrets', 'list'])).stdout).not.toContain('piped');
    expect(await cli(['secrets', 'delete', 'piped'])).toMatchObject({ code: 4 });
    expect((await cli(['secrets', 'create', '--help'])).stdout).toContain('--value-file');
  });
});

it('a secret of an authorization is created without a value, over HTTP and on the command line', async () => {
  const targets = ['https://api.github.com', 'https://github.com'];
  expect((await act('CreateProviderSecret', { name: 'hub' })).body).toMatchObject({
    ...{ name: 'hub', variable: 'GITHUB_TOKEN', place: 'provider', provider: 'https://github.com', targets },
  });
  const made = await cli(['secrets', 'create-provider', '--json']);
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'github', provider: 'https://github.com', targets });
  const narrow = [
    'secrets',
    'create-provider',
    'reads',
    'GET https://api.github.com/user',
    '--variable',
    'GH_TOKEN',
  ];
  const shown = await cli(narrow);
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('GET https://api.github.com/user')]);
  const given = await act('CreateProviderSecret', { name: 'valued', value: VALUE });
  expect([given.status, JSON.stringify(given.body).includes(VALUE)]).toEqual([400, false]);
  const rotated = await act('RotateSecret', { secret: 'hub', value: VALUE });
  expect(rotated.status).toBeGreaterThanOrEqual(400);
});

it('the SDK creates them, and creates sandboxes with them', async () => {
  const client = new Sandhaven({ url: http.url, apiKey: API_KEY });
  await client.administration.call('CreateSecret', { name: 'sdk', value: VALUE, targets: [TARGET] });
  const sandbox = await client.createSandbox({ name: 'sdk', secrets: ['sdk'] });
  expect(sandbox.secrets).toEqual([{ name: 'sdk', variable: 'SDK' }]);
});
