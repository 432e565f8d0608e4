/** A result that cannot be saved where it should be: refused before the database is asked, where that can be known. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { person } from '../support/people.ts';
import { call, must } from '../support/service.ts';
import { openProxy } from './connection/proxy.ts';
import { connectionStringAt, useTestDatabase } from './server.ts';
import { type Parameters, useService } from './service.ts';

const database = useTestDatabase({ few: [{ _id: 1 }, { _id: 2 }] as never[] });
const few = { database_name: database.name, collection_name: 'few' };
const proxy = await openProxy();
const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: connectionStringAt(proxy.port) }));
const small = { cpu: 1, memory_gb: 1, disk_gb: 1 };

let marks = 0;

/** Each query is told from all others by a field that it names. */
async function save(target: Parameters) {
  const mark = `mark_${marks++}_`;
  const pipeline = [`{"$match": {"${mark}": {"$exists": false}}}`];
  const { status, body } = await documents.ask('AggregateDocuments', { ...few, pipeline, ...target });
  return { status, body, wasSent: proxy.sent().includes(mark) };
}

/** A problem without what is in it of one call. */
function shapeOf({ request_id: _, ...problem }: Parameters, name: string): unknown {
  return JSON.parse(JSON.stringify(problem).replaceAll(name, 'NAME'));
}

beforeAll(async () => {
  const { service } = documents;
  for (const name of ['target', 'stopped', 'archived', 'deleted']) {
    await must(service, 'CreateSandbox', { name, ...small });
    if (name !== 'target') await must(service, 'StopSandbox', { sandbox: name });
  }
  await must(service, 'ArchiveSandbox', { sandbox: 'archived' });
  await must(service, 'DeleteSandbox', { sandbox: 'deleted' });
  const command =
    'mkdir -p folder /tmp/outside && echo one > file && ln -s folder link && ln -s file link-to-file && ' +
    'ln -s /tmp/nowhere dangling && ln -s /tmp/outside way-out';
  await must(service, 'RunCommand', { sandbox: 'target', command });
  await documents.explore(database.name, ['few']);
}, 240_000);

afterAll(() => proxy.close());

describe('before the query is sent', () => {
  it('a good target is none of these', async () => {
    const saved = await save({ save_to_sandbox: 'target', save_to_path: 'new/few.jsonl' });
    expect(saved).toMatchObject({ status: 200, wasSent: true, body: { saved: { count: 2 } } });
  });

  it.each([
    ['unknown', { code: 'not_found', resource: 'sandbox', hint: expect.stringContaining('ListSandboxes') }],
    ['deleted', { code: 'not_found', resource: 'sandbox' }],
    [
      'stopped',
      { code: 'invalid_state', parameter: 'save_to_sandbox', hint: expect.stringContaining('Start') },
    ],
    [
      'archived',
      { code: 'invalid_state', parameter: 'save_to_sandbox', hint: expect.stringContaining('Start') },
    ],
  ])('the sandbox is %s', async (save_to_sandbox, problem) => {
    const refused = await save({ save_to_sandbox, save_to_path: 'few.jsonl' });
    expect(refused.body).toMatchObject(problem);
    expect(refused.wasSent).toBe(false);
  });

  it('the sandbox is of another user, by its name and by its ID, as one that is not there', async () => {
    const other = await person(documents.service, 'Bob');
    const { id } = await must(other, 'CreateSandbox', { name: 'of bob', ...small });
    for (const [given, absent] of [
      ['of bob', 'of nobody'],
      [String(id), 'sb_0000000000000000'],
    ] as const) {
      const [theirs, none] = [given, absent].map((name) => ({
        save_to_sandbox: name,
        save_to_path: 'few.jsonl',
      }));
      const refused = await save(theirs ?? {});
      expect(refused).toMatchObject({ status: 404, wasSent: false, body: { code: 'not_found' } });
      const { body } = await save(none ?? {});
      expect(shapeOf(refused.body, given)).toEqual(shapeOf(body, absent));
    }
  });

  it.each(['folder', 'folder/', '.', 'folder/../folder'])('the path %s is a folder', async (path) => {
    const refused = await save({ save_to_sandbox: 'target', save_to_path: path });
    expect(refused.body).toMatchObject({
      code: 'invalid_argument',
      parameter: 'save_to_path',
      hint: expect.stringContaining('file'),
    });
    expect(refused.wasSent).toBe(false);
  });

  it.each([
    ['save_to_path', { save_to_sandbox: 'target' }],
    ['save_to_sandbox', { save_to_path: 'few.jsonl' }],
    ['save_to_path', { save_to_sandbox: 'target', save_to_path: '' }],
    ['save_to_path', { save_to_sandbox: 'target', save_to_path: 'a\0b' }],
    ['save_to_path', { save_to_sandbox: 'target', save_to_path: 'x'.repeat(5_000) }],
    ['save_to_sandbox', { save_to_sandbox: '', save_to_path: 'few.jsonl' }],
    ['save_to_sandbox', { save_to_sandbox: 'x'.repeat(300), save_to_path: 'few.jsonl' }],
  ])('%s is missing or no such thing', async (parameter, target) => {
    const refused = await save(target);
    expect(refused.body).toMatchObject({ code: 'invalid_argument', parameter });
    expect(refused.wasSent).toBe(false);
  });
});

/** What stands at the path, as bytes and as what it is. */
async function contentOf(path: string): Promise<string> {
  const command = `stat --format '%F %s' '${path}' && cat '${path}' | head --bytes 200`;
  const { stdout } = await must(documents.service, 'RunCommand', { sandbox: 'target', command });
  return String(stdout);
}

describe('[WIRE-DB-21] a save', () => {
  it.each([
    ['a file', 'file'],
    ['a file by another spelling', './folder/../file'],
    ['a link to a file', 'link-to-file'],
  ])('replaces nothing, and is refused before the query is sent: %s', async (_, path) => {
    const before = await contentOf(path);
    const refused = await save({ save_to_sandbox: 'target', save_to_path: path });
    expect(refused).toMatchObject({
      status: 409,
      wasSent: false,
      body: {
        code: 'already_exists',
        parameter: 'save_to_path',
        detail: `'${path}' exists already.`,
        hint: expect.stringContaining('another path'),
      },
    });
    expect(await contentOf(path)).toBe(before);
  });

  it('replaces no link, though it leads nowhere', async () => {
    const refused = await save({ save_to_sandbox: 'target', save_to_path: 'dangling' });
    expect(refused.body).toMatchObject({ code: 'already_exists', parameter: 'save_to_path' });
    const absent = await call(documents.service, 'GetFileInfo', { sandbox: 'target', path: '/tmp/nowhere' });
    expect(absent.body).toMatchObject({ code: 'not_found' });
  });

  it('gives its name to one of several at once', async () => {
    const target = { save_to_sandbox: 'target', save_to_path: 'once.jsonl' };
    const saves = await Promise.all(Array.from({ length: 6 }, () => save(target)));
    const refused = saves.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(5);
    for (const { body } of refused) expect(body).toMatchObject({ code: 'already_exists' });
    expect(await contentOf('once.jsonl')).toBe('regular file 20\n{"_id":1}\n{"_id":2}\n');
  });

  it.each([
    '/etc/passwd',
    '/etc/new.jsonl',
    '/proc/few.jsonl',
    '../new.jsonl',
    '/workspace/../new.jsonl',
    '/workspaces/x',
  ])('stays beneath /workspace, and is refused before the query is sent: %s', async (path) => {
    const refused = await save({ save_to_sandbox: 'target', save_to_path: path });
    expect(refused).toMatchObject({
      status: 400,
      wasSent: false,
      body: {
        code: 'invalid_argument',
        parameter: 'save_to_path',
        detail: `'${path}' is not beneath /workspace.`,
      },
    });
  });

  it.each(['way-out/new.jsonl', 'way-out/made/new.jsonl'])(
    'stays there where a link leads out of it, and makes no folder there: %s',
    async (path) => {
      const { body } = await save({ save_to_sandbox: 'target', save_to_path: path });
      expect(body).toMatchObject({
        code: 'invalid_argument',
        parameter: 'save_to_path',
        detail: `'${path}' is not beneath /workspace.`,
      });
      const listed = await must(documents.service, 'RunCommand', {
        sandbox: 'target',
        command: 'ls -A /tmp/outside',
      });
      expect(listed['stdout']).toBe('');
    },
  );

  it('goes through a link that stays beneath /workspace', async () => {
    const { body } = await save({ save_to_sandbox: 'target', save_to_path: 'link/made/new.jsonl' });
    expect(body).toMatchObject({ saved: { count: 2 } });
    expect(await contentOf('folder/made/new.jsonl')).toContain('{"_id":1}');
  });
});

describe('at the file itself', () => {
  it.each(['file/few.jsonl', `${'y'.repeat(300)}.jsonl`])(
    'a path that WriteFile refuses, such as %.20s, is refused alike',
    async (path) => {
      const written = await call(documents.service, 'WriteFile', { sandbox: 'target', path, content: 'x' });
      expect(written.status).toBeGreaterThanOrEqual(400);
      expect(written.status).toBeLessThan(500);
      const { body } = await save({ save_to_sandbox: 'target', save_to_path: path });
      const { code, detail, parameter } = written.body;
      expect(body).toMatchObject({ code, detail });
      if (parameter !== undefined) expect(body).toMatchObject({ parameter: 'save_to_path' });
    },
  );

  it('a path that goes up is where WriteFile has it', async () => {
    const path = 'folder/../../workspace/./up.jsonl';
    const { body } = await save({ save_to_sandbox: 'target', save_to_path: path });
    expect(body).toMatchObject({ saved: { count: 2 } });
    const read = await must(documents.service, 'ReadFile', {
      sandbox: 'target',
      path: '/workspace/up.jsonl',
    });
    expect(read).toMatchObject({ content: '{"_id":1}\n{"_id":2}\n' });
  });

  it('a query that the server refuses makes no file', async () => {
    const target = { save_to_sandbox: 'target', save_to_path: 'none/few.jsonl' };
    const pipeline = ['{"$project": {"x": {"$divide": [1, {"$subtract": ["$_id", "$_id"]}]}}}'];
    const { body } = await documents.ask('AggregateDocuments', { ...few, pipeline, ...target });
    expect(body).toMatchObject({ code: 'invalid_argument', parameter: 'pipeline' });
    const found = await call(documents.service, 'GetFileInfo', { sandbox: 'target', path: 'none' });
    expect(found.body).toMatchObject({ code: 'not_found' });
  });
});
