/** Reading the log: by the actions and on the command line, as an admin and as a member. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { cliFor } from '../surfaces/cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type Harness, startHttp } from '../surfaces/http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  await http.call('Sandbox.WhoAmI', {});
  await http.call('Sandbox.GetSandbox', { sandbox: 'none' });
  await as(MEMBER_KEY, '/v1/tools/Sandbox.ListRegions', {});
});
afterEach(() => http.close());

async function as(key: string, path: string, parameters: object) {
  const response = await fetch(http.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function list(parameters: object, key = API_KEY): Promise<Record<string, unknown>[]> {
  const { status, body } = await as(key, '/v1/admin/ListAudit', parameters);
  expect({ status, problem: body['detail'] }).toEqual({ status: 200, problem: undefined });
  return body['rows'] as Record<string, unknown>[];
}

/** A team with Ben in it, and a visit to one of its sandboxes. */
async function visitedTeam(): Promise<{ id: string }> {
  const { teams, audit } = http.services;
  const { team } = await teams.create('red', {});
  await teams.setMember('red', 'ben@example.org', 'member');
  const subject = {
    action: 'ssh.login',
    caller: { id: null, keyId: 'tok_1', team },
    origin: { transport: 'ssh', address: '::1' },
    requestId: null,
  } as const;
  audit.note(subject, { outcome: 'ok', durationMs: 1, sandboxId: 'sb_0000000000000001' });
  return team;
}

const actionsIn = (rows: Record<string, unknown>[]) => rows.map(({ action }) => action);

describe('ListAudit', () => {
  it('shows an admin what everybody did, oldest first', async () => {
    const rows = await list({});
    expect(rows).toMatchObject([
      {
        sequence: 1,
        action: 'Sandbox.WhoAmI',
        outcome: 'ok',
        user_id: user.id,
        key_id: user.keyId,
        transport: 'http',
      },
      { sequence: 2, action: 'Sandbox.GetSandbox', outcome: 'not_found' },
      { sequence: 3, action: 'Sandbox.ListRegions', user_id: 'user_2' },
    ]);
    expect(rows[0]?.['time']).toMatch(/^\d{4}-.*Z$/);
    expect(rows[0]?.['hash']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('shows a member what they did, and refuses the rest in constant shape', async () => {
    expect(actionsIn(await list({}, MEMBER_KEY))).toEqual(['Sandbox.ListRegions']);
    expect(actionsIn(await list({ user: 'user_2', action: 'Sandbox.ListRegions' }, MEMBER_KEY))).toHaveLength(
      1,
    );
    for (const other of [user.id, user.email, 'user_none']) {
      const { status, body } = await as(MEMBER_KEY, '/v1/admin/ListAudit', { user: other });
      expect({ status, code: body['code'], detail: body['detail'] }).toEqual({
        ...{
          status: 403,
          code: 'permission_denied',
          detail: 'Only an admin may see the rows of other users.',
        },
      });
    }
    expect(await as(MEMBER_KEY, '/v1/admin/VerifyAudit', {})).toMatchObject({ status: 403 });
  });

  it.each([
    [{ user: user.id }, ['Sandbox.WhoAmI', 'Sandbox.GetSandbox']],
    [{ user: 'ben@example.org' }, ['Sandbox.ListRegions']],
    [{ action: 'Sandbox.WhoAmI' }, ['Sandbox.WhoAmI']],
    [{ outcome: 'not_found' }, ['Sandbox.GetSandbox']],
    [{ key: user.keyId, outcome: 'ok' }, ['Sandbox.WhoAmI']],
    [{ sandbox: `sb_${'0'.repeat(16)}` }, []],
    [{ since: '1h' }, ['Sandbox.WhoAmI', 'Sandbox.GetSandbox', 'Sandbox.ListRegions']],
    [{ until: '1h' }, []],
    [{ since: '2026-01-01T00:00:00Z', until: '2026-01-01T00:00:01+02:00' }, []],
    [{ limit: 1 }, ['Sandbox.ListRegions']],
    [{ limit: 1, after: 0 }, ['Sandbox.WhoAmI']],
    [{ limit: 1, after: 1 }, ['Sandbox.GetSandbox']],
  ])('filters by %j', async (parameters, expected) => {
    expect(actionsIn(await list(parameters))).toEqual(expected);
  });

  it.each([
    ['since', 'yesterday'],
    ['since', '2026-13-01T00:00:00Z'],
    ['outcome', 'fine'],
    ['limit', 0],
    ['after', -1],
    ['wait_seconds', 31],
  ])('refuses %s %j', async (parameter, value) => {
    const { body } = await as(API_KEY, '/v1/admin/ListAudit', { [parameter]: value });
    expect(body).toMatchObject({ code: 'invalid_argument', parameter });
  });

  it('finds the rows of a team by its name, and by its id once it is deleted', async () => {
    const { id } = await visitedTeam();
    expect(await list({ team: 'red' })).toMatchObject([{ action: 'ssh.login', user_id: null, team_id: id }]);
    await http.services.teams.delete('red');
    expect(actionsIn(await list({ team: id }))).toEqual(['ssh.login']);
    expect(await list({ team: 'team_0000000000000009' })).toEqual([]);
    const unknown = await as(API_KEY, '/v1/admin/ListAudit', { team: 'blue' });
    expect(unknown.body).toMatchObject({ code: 'not_found' });
  });

  it('shows no rows of a team to its members', async () => {
    await visitedTeam();
    for (const team of ['red', 'blue']) {
      const { body } = await as(MEMBER_KEY, '/v1/admin/ListAudit', { team });
      expect(body).toMatchObject({
        ...{ code: 'permission_denied', parameter: 'team' },
        detail: 'Only an admin may see the rows of a team.',
      });
    }
    expect(actionsIn(await list({}, MEMBER_KEY))).not.toContain('ssh.login');
  });

  it('waits for what comes, and is not woken by itself', async () => {
    const waiting = list({ after: 3, wait_seconds: 20 });
    await list({ limit: 1 });
    await http.call('Sandbox.ListSandboxes', {});
    expect(actionsIn(await waiting)).toEqual(['Sandbox.ListSandboxes']);
  });
});

describe('sandhaven audit', () => {
  it('shows a table, and rows as JSON', async () => {
    const shown = await cli(['audit']);
    expect(shown.stdout).toMatch(/^ *SEQUENCE +TIME +ACTION +OUTCOME +MS +USER +KEY/);
    expect(shown.stdout).toMatch(/Sandbox\.GetSandbox +not_found/);
    const { stdout } = await cli(['audit', '--json', '--outcome', 'not_found']);
    expect(JSON.parse(stdout)).toMatchObject({ rows: [{ action: 'Sandbox.GetSandbox' }] });
  });

  it('verifies, with an exit status', async () => {
    for (const argv of [
      ['audit', '--verify'],
      ['audit', 'verify'],
    ]) {
      const { code, stdout } = await cli(argv);
      expect({ code, verdict: stdout.split('\n')[0] }).toEqual({
        code: 0,
        verdict: 'The audit log is intact.',
      });
    }
    const env = { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: MEMBER_KEY };
    expect(await cli(['audit', '--verify'], { env })).toMatchObject({ code: 3 });
    const rows = await http.services.audit.list({ filter: {}, limit: 1, after: 0 }, 0);
    expect(rows.rows).toHaveLength(1);
  });

  it('exports every row as a line into a new file that only its owner reads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-audit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'audit.jsonl');
    expect(await cli(['audit', '--export', file, '--user', user.id])).toMatchObject({ code: 0 });
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['Sandbox.WhoAmI', 'Sandbox.GetSandbox']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await cli(['audit', '--export', file]);
    expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining('EEXIST') });
    const { stdout } = await cli(['audit', '--export=-', '--action', 'Sandbox.ListRegions']);
    expect(JSON.parse(stdout)).toMatchObject({ user_id: 'user_2' });
  });

  it('leaves no file behind when the service refuses', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-audit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'audit.jsonl');
    expect(await cli(['audit', '--export', file, '--outcome', 'fine'])).toMatchObject({ code: 2 });
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, '');
  });

  it('follows what comes, without its own reads, until it is interrupted', async () => {
    const interrupt = new AbortController();
    const following = cli(['audit', 'list', '--follow', '--json'], { signal: interrupt.signal });
    await http.call('Sandbox.ListSandboxes', {});
    await http.call('Sandbox.ListSnapshots', {});
    setTimeout(() => interrupt.abort(), 1_500);
    const { code, stdout } = await following;
    expect(code).toBe(130);
    const seen = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action);
    expect(seen).toEqual([
      ...['Sandbox.WhoAmI', 'Sandbox.GetSandbox', 'Sandbox.ListRegions'],
      ...['Sandbox.ListSandboxes', 'Sandbox.ListSnapshots'],
    ]);
  });

  it.each([
    [['audit', '--verify', '--follow'], 'exclude each other'],
    [['audit', '--export'], 'needs a file'],
    [['audit', '--folow'], 'folow'],
  ])('refuses %j', async (argv, words) => {
    expect(await cli(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});
