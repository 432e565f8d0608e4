/** Entries, changes and searches of files by Daytona's clients. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileService } from '../../../src/control/work/files.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let sandbox: string;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  const made = await http.call('Sandbox.CreateSandbox', { name: 'box', language: 'python' });
  sandbox = ((await made.json()) as { id: string }).id;
});

afterEach(() => http.close());

async function ask(method: string, path: string, body?: unknown) {
  const response = await http.fetch(`/daytona/toolbox/${sandbox}${path}`, {
    method,
    // Their JavaScript client names this type for a POST without a body.
    headers: { 'content-type': body ? 'application/json' : 'application/x-www-form-urlencoded' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** Puts functions in place of those of the fake, and returns the queries that they get. */
function answering<Name extends keyof FileService>(name: Name, answer: (query: never) => unknown): unknown[] {
  const queries: unknown[] = [];
  Object.assign(http.services.files, {
    [name]: async (_caller: unknown, _reference: unknown, query: never) => {
      queries.push(query);
      return answer(query);
    },
  });
  return queries;
}

const put = (path: string, content = 'text', mode = 0o644) =>
  http.files.set(path, { content: Buffer.from(content), mode });

describe('folders of a sandbox', () => {
  it('are where a shell begins, and what it says of the home', async () => {
    const commands: string[] = [];
    Object.assign(http.services.execution, {
      runCommand: async (_caller: unknown, _reference: unknown, { command }: { command: string }) => {
        commands.push(command);
        return { output: '', stdout: '/home/daytona\n', stderr: '', exitCode: 0 };
      },
    });
    expect(await ask('GET', '/user-home-dir')).toEqual({ status: 200, body: { dir: '/home/daytona' } });
    expect(await ask('GET', '/work-dir')).toEqual({ status: 200, body: { dir: '/home/daytona' } });
    expect(commands).toEqual(['cd && pwd', 'pwd']);
  });
});

describe('entries', () => {
  it('are described as Go prints modes and times, and in forms that others read', async () => {
    put('/a/b.txt', 'text', 0o640);
    expect(await ask('GET', '/files/info?path=/a/b.txt')).toEqual({
      status: 200,
      body: {
        name: 'b.txt',
        path: '/a/b.txt',
        isDir: false,
        size: 4,
        mode: '-rw-r-----',
        permissions: '0640',
        owner: 'root',
        group: 'root',
        modifiedAt: '2026-01-02T03:04:05.000Z',
        modTime: '2026-01-02 03:04:05.000 +0000 UTC',
      },
    });
  });

  it('are listed below the path that was asked for, to the depth that was asked for', async () => {
    const owned = { uid: 0, gid: 0, owner: 'ann', group: 'staff', modifiedMs: 0 };
    const queries = answering('details', () => ({
      items: [
        { path: 'd', type: 'dir', size: 4_096, mode: 0o755, ...owned },
        { path: 'd/l', type: 'symlink', size: 1, mode: 0o777, ...owned },
        { path: 'd/p', type: 'other', size: 0, mode: 0o600, ...owned },
      ],
      ...{ totalCount: 3, nextOffset: null },
    }));
    const { status, body } = await ask('GET', '/files?path=/srv/&depth=2');
    expect(status).toBe(200);
    expect(body[0]).toEqual({
      ...{ name: 'd', path: '/srv/d', isDir: true, size: 4_096, owner: 'ann', group: 'staff' },
      ...{ mode: 'drwxr-xr-x', permissions: '0755' },
      ...{ modifiedAt: '1970-01-01T00:00:00.000Z', modTime: '1970-01-01 00:00:00.000 +0000 UTC' },
    });
    expect(body.slice(1)).toMatchObject([
      { name: 'l', path: '/srv/d/l', isDir: false, mode: 'Lrwxrwxrwx' },
      { name: 'p', path: '/srv/d/p', isDir: false, mode: '?rw-------' },
    ]);
    await ask('GET', '/files');
    expect(queries).toEqual([
      { path: '/srv/', depth: 2, maxItems: 10_000, offset: 0 },
      { path: '.', depth: 1, maxItems: 10_000, offset: 0 },
    ]);
  });

  it('are refused where one list cannot hold them all', async () => {
    answering('details', () => ({ items: [], totalCount: 10_001, nextOffset: null }));
    const { status, body } = await ask('GET', '/files?path=/');
    expect([status, body.code]).toEqual([422, 'TOO_LARGE']);
    expect(body.message).toContain('10001 entries');
  });

  it.each(['0', 'x', '65'])('have no depth of %s', async (depth) => {
    expect((await ask('GET', `/files?path=/&depth=${depth}`)).status).toBe(400);
  });
});

describe('changes', () => {
  it('make folders, move and delete', async () => {
    expect(await ask('POST', '/files/folder?path=d&mode=0750')).toEqual({ status: 201, body: null });
    expect(http.files.get('d')?.mode).toBe(0o750);
    put('a');
    expect(await ask('POST', '/files/move?source=a&destination=b')).toEqual({ status: 200, body: null });
    expect(await ask('DELETE', '/files?path=b&recursive=true')).toEqual({ status: 204, body: null });
    expect([...http.files.keys()]).toEqual(['d']);
  });

  it('delete no folder unless it is asked for', async () => {
    const queries = answering('remove', () => {});
    await ask('DELETE', '/files?path=d');
    await ask('DELETE', '/files?path=d&recursive=false');
    await ask('DELETE', '/files?path=d&recursive=true');
    expect(queries).toMatchObject([{ recursive: false }, { recursive: false }, { recursive: true }]);
  });

  it('set owner, group and mode', async () => {
    const queries = answering('setAttributes', () => {});
    const set = await ask('POST', '/files/permissions?path=a&owner=daytona&group=staff&mode=755');
    expect(set).toEqual({ status: 200, body: null });
    await ask('POST', '/files/permissions?path=a&mode=0644');
    expect(queries).toEqual([
      { path: 'a', owner: 'daytona', group: 'staff', mode: 0o755 },
      { path: 'a', mode: 0o644 },
    ]);
    expect((await ask('POST', '/files/permissions?path=a&mode=9')).status).toBe(400);
    const { rows } = await http.services.audit.list({ filter: {}, limit: 100 }, 0);
    expect(rows.map(({ action }) => action)).toContain('files.attributes');
  });

  it('replace plain text, with a row for each file', async () => {
    const queries = answering('replace', () => ({
      results: [
        { path: '/a', status: 'success', replacements: 2 },
        { path: 'b', status: 'error', replacements: 0, error: "'b' does not exist." },
      ],
      ...{ filesModified: 1, literal: true },
    }));
    const body = { files: ['/a', 'b'], pattern: 'f(x)', newValue: '\\1 & $2' };
    expect(await ask('POST', '/files/replace', body)).toEqual({
      status: 200,
      body: [
        { file: '/a', success: true },
        { file: 'b', success: false, error: "'b' does not exist." },
      ],
    });
    expect(queries).toEqual([
      { files: ['/a', 'b'], pattern: 'f(x)', replacement: '\\\\1 \\& $2', literal: true },
    ]);
  });
});

describe('searches', () => {
  it('find text in files, all of it, with paths as they were asked for', async () => {
    const page = (count: number, from: number) =>
      Array.from({ length: count }, (_, index) => ({
        path: `/../srv/f${from + index}`,
        ...{ matchCount: 1, capped: false },
        matches: [{ line: 3, text: 'f(x) here', before: [], after: [] }],
      }));
    const queries = answering('search', ({ offset }: { offset: number }) => ({
      ...{ files: offset === 0 ? page(200, 0) : page(1, 200), totalCount: 201, literal: true },
    }));
    const { body } = await ask('GET', `/files/find?path=/srv&pattern=${encodeURIComponent('f(x)')}`);
    expect(body).toHaveLength(201);
    expect(body[200]).toEqual({ file: '/srv/f200', line: 3, content: 'f(x) here' });
    expect(queries).toMatchObject([
      { path: '/../srv', query: 'f(x)', literal: true, maxItems: 200, offset: 0 },
      { path: '/../srv', offset: 200 },
    ]);
  });

  it('find files by name', async () => {
    const queries = answering('find', () => ({ items: ['/../srv/a.ts', '/../srv/b/c.ts'], totalCount: 2 }));
    const { body } = await ask('GET', '/files/search?path=/srv&pattern=*.ts');
    expect(body).toEqual({ files: ['/srv/a.ts', '/srv/b/c.ts'] });
    answering('find', () => ({ items: ['src/a.ts'], totalCount: 1 }));
    expect((await ask('GET', '/files/search?path=src&pattern=*.ts')).body).toEqual({ files: ['src/a.ts'] });
    expect(queries).toMatchObject([{ path: '/../srv', pattern: '*.ts' }]);
  });
});

describe('refusals', () => {
  const cases = [
    ['not_found', { resource: 'file', parameter: 'path' }, 404, 'FILE_NOT_FOUND'],
    ['permission_denied', { parameter: 'path' }, 403, 'FILE_ACCESS_DENIED'],
    ['invalid_argument', { parameter: 'path' }, 400, 'INVALID_FILE_PATH'],
    ['already_exists', { parameter: 'destination' }, 409, 'ALREADY_EXISTS'],
    ['failed_precondition', { parameter: 'path' }, 422, 'FAILED_PRECONDITION'],
    ['not_found', { resource: 'sandbox' }, 404, 'NOT_FOUND'],
    ['permission_denied', {}, 403, 'PERMISSION_DENIED'],
  ] as const;

  it.each(cases)('of %s with %j have status %i and code %s', async (code, fields, status, theirs) => {
    answering('info', () => {
      throw new SandhavenError(code, 'No.', { ...fields, hint: 'Do this.' });
    });
    const answer = await ask('GET', '/files/info?path=a%20b&x=secret');
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      ...{
        statusCode: status,
        code: theirs,
        message: 'No. Do this.',
        source: 'DAYTONA_DAEMON',
        method: 'GET',
      },
      ...{ path: `/daytona/toolbox/${sandbox}/files/info`, error: expect.any(String) },
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await expect.poll(() => http.log.at(-1)).toMatchObject({ context: { status, code } });
  });
});
