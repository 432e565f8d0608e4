/** Commands for what is inside a sandbox and no tool has, as docs/command-line.md writes them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  http.files.set('run.sh', { content: Buffer.from('true\n'), mode: 0o644 });
});
afterAll(() => http.close());

it('files details shows a table of what is there, and all of it as JSON', async () => {
  const argv = ['files', 'details', 'demo', '--path', 'run.sh', '--depth', '0', '--user', 'ann'];
  const { code, stdout } = await cli(argv);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^0644 +root +root +5 +1970-01-01T00:00:00.000Z +\.$/m);
  expect(http.users.at(-1)).toBe('ann');
  expect(JSON.parse((await cli([...argv, '--json'])).stdout)).toEqual({
    entries: [
      {
        ...{ path: '', type: 'file', size: 5, mode: '0644', owner: 'root', group: 'root', uid: 0, gid: 0 },
        ...{ modified_time: '1970-01-01T00:00:00.000Z', metadata: {} },
      },
    ],
    ...{ total_count: 1, next_offset: null },
  });
});

it('files set changes mode, owner and metadata', async () => {
  const given = ['--mode', '755', '--owner', 'ann', '--metadata', '{"origin": "build"}'];
  expect(await cli(['files', 'set', 'demo', '--path', 'run.sh', ...given])).toMatchObject({ code: 0 });
  expect(http.files.get('run.sh')?.mode).toBe(0o755);
});

it.each([
  ['--mode', '9'],
  ['--metadata', '{"": "x"}'],
  ['--metadata', `{"${'n'.repeat(251)}": "x"}`],
  ['--user', 'Ann'],
])('files set refuses %s %s before anything happens', async (flag, value) => {
  const { code, stderr } = await cli(['files', 'set', 'demo', '--path', 'run.sh', flag, value]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(flag.slice(2));
  expect(http.files.get('run.sh')?.mode).toBe(0o755);
});

it('sessions rm deletes a session, once', async () => {
  const body = JSON.stringify({ session_id: 'build' });
  const headers = { 'content-type': 'application/json' };
  await http.fetch('/v1/tools/Sandbox.CreateSession', { method: 'POST', body, headers });
  expect(await cli(['sessions', 'rm', 'demo', '--session-id', 'build'])).toMatchObject({ code: 0 });
  const again = await cli(['sessions', 'rm', 'demo', '--session-id', 'build']);
  expect(again.stderr).toContain("There is no session 'build'.");
});
