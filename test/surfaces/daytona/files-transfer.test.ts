/** Uploads and downloads by Daytona's clients: bytes as they come, and multipart forms of them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileUpload } from '../../../src/control/ports/index.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let root: string;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  const made = await http.call('Sandbox.CreateSandbox', { name: 'box', language: 'python' });
  root = `/daytona/toolbox/${((await made.json()) as { id: string }).id}`;
});

afterEach(() => http.close());

const put = (path: string, content: string) =>
  http.files.set(path, { content: Buffer.from(content), mode: 0o644 });

async function actions(): Promise<[string, string][]> {
  const { rows } = await http.services.audit.list({ filter: {}, limit: 100 }, 0);
  return rows.map(({ action, outcome }): [string, string] => [action, outcome]);
}

describe('downloads', () => {
  it('send the bytes of a file', async () => {
    put('/a', 'one two');
    const response = await http.fetch(`${root}/files/download?path=/a`);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-length')).toBe('7');
    expect(await response.text()).toBe('one two');
    const missing = await http.fetch(`${root}/files/download?path=/b`);
    expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([
      404,
      'FILE_NOT_FOUND',
    ]);
    expect(await actions()).toEqual(
      expect.arrayContaining([
        ['files.download', 'ok'],
        ['files.download', 'not_found'],
      ]),
    );
  });

  const bulk = (paths: unknown, headers: Record<string, string> = {}) =>
    http.fetch(`${root}/files/bulk-download`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ paths }),
    });

  it('of many send a part for each, in their order, and an error in place of one that fails', async () => {
    put('/a', 'one');
    put('empty', '');
    const response = await bulk(['nope', '/a', 'empty'], { 'x-daytona-sdk-version': '0.218.0' });
    const [, boundary] =
      /^multipart\/form-data; boundary=([\w-]+)$/.exec(response.headers.get('content-type') ?? '') ?? [];
    const [before, failed = '', ...parts] = (await response.text()).split(`--${boundary}`);
    const [head, error = '{}'] = failed.split('\r\n\r\n');
    expect(before).toBe('');
    expect(head).toMatch(
      /^\r\nContent-Disposition: form-data; name="error"; filename="nope"\r\nContent-Type: application\/json\r\nContent-Length: \d+$/,
    );
    expect(JSON.parse(error)).toMatchObject({
      ...{ statusCode: 404, code: 'FILE_NOT_FOUND', source: 'DAYTONA_DAEMON' },
      message: "There is no file 'nope'.",
    });
    const bytes = 'Content-Type: application/octet-stream';
    expect(parts).toEqual([
      `\r\nContent-Disposition: form-data; name="file"; filename="/a"\r\n${bytes}\r\nContent-Length: 3\r\n\r\none\r\n`,
      `\r\nContent-Disposition: form-data; name="file"; filename="empty"\r\n${bytes}\r\n\r\n\r\n`,
      '--\r\n',
    ]);
  });

  it('of many show old clients an error as text', async () => {
    const response = await bulk(['nope'], { 'x-daytona-sdk-version': '0.143.0' });
    expect(await response.text()).toContain(
      "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 24\r\n\r\nThere is no file 'nope'.\r\n",
    );
  });

  it('of many fail as a whole for a fault that is not of one file', async () => {
    Object.assign(http.services.files, {
      readStream: async () => {
        throw new SandhavenError('invalid_state', 'The sandbox is stopped.', { parameter: 'sandbox' });
      },
    });
    expect((await bulk(['/a'])).status).toBe(409);
    for (const paths of [[], 'a', undefined, [1]]) expect((await bulk(paths)).status).toBe(400);
  });

  it('of many break off when a file ends early', async () => {
    put('shrinking', 'one two');
    await expect(bulk(['shrinking']).then((response) => response.text())).rejects.toThrow();
    expect(await actions()).toContainEqual(['files.download', 'unavailable']);
  });
});

function form(...parts: [name: string, content: string][]): {
  headers: Record<string, string>;
  body: string;
} {
  const bodies = parts.map(([name, content]) => {
    const filename = name.endsWith('file') ? '; filename="x"' : '';
    return `--b\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n\r\n${content}\r\n`;
  });
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${bodies.join('')}--b--\r\n`,
  };
}

async function send(path: string, request: RequestInit) {
  const response = await http.fetch(root + path, { method: 'POST', ...request });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const written = () => [...http.files].map(([path, { content }]) => [path, content.toString()]);

describe('an upload', () => {
  it('is a form with the file, or its bytes', async () => {
    const answer = { status: 200, body: { name: 'f', path: '/d/f', type: 'file' } };
    expect(
      await send('/files/upload-v2?path=/d/f', form(['other', 'x'], ['file', 'one'], ['file', 'two'])),
    ).toEqual(answer);
    expect(written()).toEqual([['/d/f', 'one']]);
    const raw = { headers: { 'content-type': 'application/octet-stream' }, body: 'two' };
    expect(await send('/files/upload?path=/d/f', raw)).toEqual(answer);
    expect(written()).toEqual([['/d/f', 'two']]);
    expect((await send('/files/upload-v2?path=/d/f', form(['other', 'x']))).status).toBe(400);
    expect(await actions()).toContainEqual(['files.upload', 'ok']);
  });

  it.each([
    ['each path before its file', [['path', 'file']]],
    ['all paths before the files', [['path'], ['file']]],
  ])('of many has %s', async (_how, rounds) => {
    const parts = rounds.flatMap((fields) =>
      [0, 1].flatMap((index) =>
        fields.map((field): [string, string] => [
          `files[${index}].${field}`,
          field === 'path' ? `d/ü${index}` : `content ${index}`,
        ]),
      ),
    );
    expect(await send('/files/bulk-upload', form(...parts))).toEqual({
      status: 200,
      body: {
        files: [
          { path: 'd/ü0', bytes: 9 },
          { path: 'd/ü1', bytes: 9 },
        ],
        errors: [],
      },
    });
    expect(written()).toEqual([
      ['d/ü0', 'content 0'],
      ['d/ü1', 'content 1'],
    ]);
  });

  it('of many writes the others when one is refused, and reports it', async () => {
    const parts: [string, string][] = ['/', 'b', '/'].flatMap((path, index): [string, string][] => [
      [`files[${index}].path`, path],
      [`files[${index}].file`, 'x'.repeat(100_000)],
    ]);
    const { status, body } = await send('/files/bulk-upload', form(...parts));
    expect([status, body['code'], body['message']]).toEqual([
      400,
      'INVALID_FILE_PATH',
      "'/' is a directory.",
    ]);
    expect([...http.files.keys()]).toEqual(['b']);
    expect(await actions()).toContainEqual(['files.upload', 'invalid_argument']);
  });

  it('of many fails as a whole for a fault that is not of one file', async () => {
    Object.assign(http.services.files, {
      write: async () => {
        throw notFound('sandbox', 'There is no such sandbox.');
      },
    });
    const { status, body } = await send(
      '/files/bulk-upload',
      form(['files[0].path', 'a'], ['files[0].file', 'x']),
    );
    expect([status, body['code']]).toEqual([404, 'NOT_FOUND']);
  });

  it.each([
    ['no path', form(['files[0].file', 'x']), 400],
    ['a path of another file', form(['files[1].path', 'a'], ['files[0].file', 'x']), 400],
    ['a long path', form(['files[0].path', 'a'.repeat(4_096)]), 422],
    [
      'too many paths',
      form(
        ...Array.from({ length: 1_100 }, (_, index): [string, string] => [
          `files[${index}].path`,
          'a'.repeat(4_000),
        ]),
      ),
      422,
    ],
    ['no form', { headers: { 'content-type': 'application/json' }, body: '{}' }, 400],
    [
      'half a form',
      { ...form(), body: form(['files[0].path', 'a'], ['files[0].file', 'x']).body.slice(0, -6) },
      400,
    ],
  ])('of many is refused with %s', async (_what, request, status) => {
    expect((await send('/files/bulk-upload', request)).status).toBe(status);
    expect(written()).toEqual([]);
  });

  it('is given to the sandbox as it comes, and leaves no file when its client leaves', async () => {
    let told = () => {};
    const come = new Promise<void>((resolve) => {
      told = resolve;
    });
    const ended: unknown[] = [];
    Object.assign(http.services.files, {
      write: async (_caller: unknown, _reference: unknown, { content }: FileUpload, signal: AbortSignal) => {
        try {
          for await (const piece of content as AsyncIterable<Buffer>) {
            expect(piece.toString()).toBe('one');
            told();
          }
        } catch (error) {
          ended.push(error, signal.aborted);
          throw error;
        }
      },
    });
    const socket = connect(http.port, '127.0.0.1');
    const part = (field: string) => `--b\r\nContent-Disposition: form-data; name="files[0].${field}"\r\n\r\n`;
    const body = `${part('path')}a\r\n${part('file')}one\r\n--`;
    socket.write(
      `POST ${root}/files/bulk-upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${API_KEY}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n' +
        body,
    );
    await come;
    socket.destroy();
    await once(socket, 'close');
    await expect.poll(() => ended).toEqual([expect.any(Error), true]);
    await expect.poll(actions).toContainEqual(['files.upload', 'cancelled']);
  });
});
