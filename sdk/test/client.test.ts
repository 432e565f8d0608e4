/** The client against a service that answers as scripted: retries, errors, progress, pages, bytes, time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallOptions, Sandhaven, SandhavenError, type SandhavenOptions } from '../src/index.ts';
import { broken, events, problem, result, ScriptedService, silent, unavailable } from './scripted-service.ts';

let service: ScriptedService;
let client: Sandhaven;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  client = connect();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await service.close();
});

function connect(options: SandhavenOptions = {}): Sandhaven {
  return new Sandhaven({ url: service.url, apiKey: 'key', ...options });
}

async function failureOf(call: Promise<unknown>): Promise<SandhavenError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandhavenError);
  return error as SandhavenError;
}

describe('a call', () => {
  it('[WIRE-HTTP-01, WIRE-AUTH-01] posts the parameters with the key, and gives the result', async () => {
    service.answers(result({ user_id: 'u' }));
    expect(await client.whoAmI()).toEqual({ user_id: 'u' });
    expect(service.asked).toMatchObject([
      {
        method: 'POST',
        path: '/v1/tools/Sandbox.WhoAmI',
        headers: { authorization: 'Bearer key' },
        body: '{}',
      },
    ]);
  });

  it('[WIRE-CLI-03] takes url and key from the environment', async () => {
    vi.stubEnv('SANDBOX_API_URL', `${service.url}/`);
    vi.stubEnv('SANDBOX_API_KEY', 'from env');
    service.answers(result({}));
    await new Sandhaven().whoAmI();
    expect(service.asked[0]).toMatchObject({
      path: '/v1/tools/Sandbox.WhoAmI',
      headers: { authorization: 'Bearer from env' },
    });
  });

  it('is refused at once where there is no key, and sends none where a proxy adds it', async () => {
    vi.stubEnv('SANDBOX_API_KEY', '');
    expect(() => new Sandhaven({ url: service.url })).toThrow(/There is no API key/);
    service.answers(result({}));
    await connect({ apiKey: null }).whoAmI();
    expect(service.asked[0]?.headers.authorization).toBeUndefined();
  });

  it('carries headers of the page’s own, none in place of the key', async () => {
    service.answers(result({}));
    const headers = {
      'x-sandhaven-request': '1',
      authorization: 'Bearer other',
      'content-type': 'text/plain',
    };
    await connect({ headers }).whoAmI();
    expect(service.asked[0]?.headers).toMatchObject({
      'x-sandhaven-request': '1',
      authorization: 'Bearer key',
      'content-type': 'application/json',
    });
  });

  it('[WIRE-ERR-02] throws the service’s error, field by field', async () => {
    const more = {
      hint: 'Do this.',
      parameter: 'sandbox',
      resource: 'sandbox',
      authorization_url: 'https://a/',
    };
    service.answers(problem('not_found', 404, more));
    const error = await failureOf(client.getSandbox({ sandbox: 'x' }));
    expect(error).toMatchObject({
      name: 'SandhavenError',
      message: 'It is not_found.',
      detail: 'It is not_found.',
      code: 'not_found',
      status: 404,
      hint: 'Do this.',
      parameter: 'sandbox',
      resource: 'sandbox',
      retryable: false,
      requestId: 'req_1',
      authorizationUrl: 'https://a/',
    });
    expect(error.stack).not.toContain('Bearer');
  });

  it.each([
    [404, 'internal', false],
    [502, 'unavailable', true],
  ])('maps a stranger’s answer with status %i to %s', async (status, code, retryable) => {
    const page: Parameters<ScriptedService['answers']>[0] = (response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>gateway</h1>');
    service.answers(page);
    expect(await failureOf(client.whoAmI({}, { maxRetries: 0 }))).toMatchObject({ code, status, retryable });
  });

  it('does not take the key to where it is redirected', async () => {
    service.answers((response) => response.writeHead(307, { location: `${service.url}/elsewhere` }).end());
    expect(await failureOf(client.whoAmI({}, { maxRetries: 0 }))).toMatchObject({
      code: 'unavailable',
      status: 0,
    });
    expect(service.asked).toHaveLength(1);
  });
});

describe('retries', () => {
  it.each([
    ['a retryable error', unavailable],
    ['a broken connection', broken],
  ])('a call that may be repeated is, after %s', async (_what, failure) => {
    service.answers(failure, failure, result({ total_count: 0 }));
    expect(await client.listSandboxes()).toEqual({ total_count: 0 });
    expect(service.asked).toHaveLength(3);
  });

  it('end after as many as were allowed, with the last error', async () => {
    service.answers(unavailable, unavailable, unavailable);
    expect(await failureOf(client.listSandboxes({}, { maxRetries: 1 }))).toMatchObject({
      code: 'unavailable',
    });
    expect(service.asked).toHaveLength(2);
  });

  it.each([
    ['a retryable error', unavailable],
    ['a broken connection', broken],
  ])('a command is never sent twice, whatever is said after %s', async (_what, failure) => {
    service.answers(failure, result({}));
    await failureOf(client.runCommand({ command: 'make deploy' }));
    expect(service.asked).toHaveLength(1);
  });

  it('an error that is not retryable is not retried', async () => {
    service.answers(problem('not_found', 404), result({}));
    await failureOf(client.getSandbox({ sandbox: 'x' }));
    expect(service.asked).toHaveLength(1);
  });

  it('[WIRE-HTTP-10] a creation is repeated under one key, and another creation has another', async () => {
    service.answers(broken, result({ id: 'sb_1' }), result({ id: 'sb_2' }), result({ id: 'sb_3' }));
    await client.createSandbox({ name: 'one' });
    await client.createSandbox({ name: 'two' });
    await client.createSandbox({ name: 'three' }, { idempotencyKey: 'mine' });
    const keys = service.asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(keys[3]).toBe('mine');
  });

  it('no other tool is sent a key', async () => {
    service.answers(result({}));
    await client.runCommand({ command: 'ls' }, { idempotencyKey: 'mine' });
    expect(service.asked[0]?.headers['idempotency-key']).toBeUndefined();
  });
});

describe('long calls', () => {
  const ask = (options: CallOptions = {}) => client.runCommand({ command: 'make' }, options);

  it('[WIRE-HTTP-04] are read as events, progress on the way', async () => {
    service.answers(
      events(
        ': the call is in progress\n\n',
        'event: progress\ndata: {"message":"Pul',
        'ling","done":1,"total":2}\n\nevent: prog',
        'ress\ndata: {"message":"Starting"}\n\n: \n\nevent: result\ndata: {"output":"ä',
        '✓"}\n\n',
      ),
    );
    const seen: unknown[] = [];
    const output = await ask({ onProgress: (progress) => seen.push(progress) });
    expect(output).toEqual({ output: 'ä✓' });
    expect(seen).toEqual([{ message: 'Pulling', done: 1, total: 2 }, { message: 'Starting' }]);
    expect(service.asked[0]?.headers.accept).toBe('text/event-stream');
  });

  it('hand on what a program prints, each stream to its own listener', async () => {
    service.answers(
      events(
        'event: output\ndata: {"stream":"stdout","text":"a\\n"}\n\n',
        'event: output\ndata: {"stream":"stderr","text":"é","left_out_bytes":7}\n\nevent: output\nda',
        'ta: {"stream":"stdout","text":"b"}\n\nevent: later\ndata: {}\n\nevent: result\ndata: {"output":"all"}\n\n',
      ),
    );
    const seen: unknown[] = [];
    const output = await ask({
      onStdout: (text, leftOutBytes) => seen.push(['stdout', text, leftOutBytes]),
      onStderr: (text, leftOutBytes) => seen.push(['stderr', text, leftOutBytes]),
    });
    expect(output).toEqual({ output: 'all' });
    expect(seen).toEqual([
      ['stdout', 'a\n', 0],
      ['stderr', 'é', 7],
      ['stdout', 'b', 0],
    ]);
  });

  it('hand on the bytes of a program, and its text in whole characters, once they are asked for', async () => {
    service.answers(
      events(
        'event: output\ndata: {"stream":"stdout","base64":"4oI="}\n\n',
        'event: output\ndata: {"stream":"stdout","base64":"rP8A","left_out_bytes":7}\n\n',
        'event: output\ndata: {"stream":"stderr","base64":"4oI="}\n\nevent: result\ndata: {"output":"all"}\n\n',
      ),
    );
    const seen: unknown[] = [];
    await ask({
      onOutput: ({ stream, bytes, leftOutBytes }) => seen.push([stream, [...bytes], leftOutBytes]),
      onStdout: (text, leftOutBytes) => seen.push([text, leftOutBytes]),
      onStderr: (text, leftOutBytes) => seen.push([text, leftOutBytes]),
    });
    expect(seen).toEqual([
      ['stdout', [0xe2, 0x82], 0],
      ['stdout', [0xac, 0xff, 0x00], 7],
      ['€\ufffd\0', 7],
      ['stderr', [0xe2, 0x82], 0],
      ['\ufffd', 0],
    ]);
    expect(service.asked[0]?.path).toMatch(/[?]output=bytes$/);
  });

  it('read no more while a listener is at work', async () => {
    const piece = 'event: output\ndata: {"stream":"stdout","base64":"eA=="}\n\n';
    service.answers(events(piece, piece, 'event: result\ndata: {"output":"xx"}\n\n'));
    const taken = Promise.withResolvers<void>();
    let heard = 0;
    const call = ask({
      onOutput: () => {
        heard += 1;
        return taken.promise;
      },
    });
    await vi.waitUntil(() => heard > 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toBe(1);
    taken.resolve();
    await call;
    expect(heard).toBe(2);
  });

  it('throw what a listener throws, and send nothing again', async () => {
    service.answers(
      events('event: output\ndata: {"stream":"stdout","base64":"eA=="}\n\nevent: result\ndata: {}\n\n'),
    );
    const fault = new Error('mine');
    const refuse = () => {
      throw fault;
    };
    await expect(ask({ onOutput: refuse })).rejects.toBe(fault);
    expect(service.asked).toHaveLength(1);
  });

  it('need no listener', async () => {
    const output = 'event: output\ndata: {"stream":"stdout","text":"a"}\n\n';
    service.answers(events(output, 'event: result\ndata: {"output":"a"}\n\n'));
    expect(await ask()).toEqual({ output: 'a' });
  });

  it('throw the error that the stream ends with', async () => {
    service.answers(
      events('event: error\ndata: {"code":"timeout","status":504,"detail":"Late.","retryable":false}\n\n'),
    );
    expect(await failureOf(ask())).toMatchObject({ code: 'timeout', status: 504 });
  });

  it('throw where the stream ends with nothing', async () => {
    service.answers(events(': the call is in progress\n\n', 'event: result\ndata: {"output":'));
    expect(await failureOf(ask())).toMatchObject({ code: 'unavailable', status: 0 });
  });

  it('read a result of megabytes that comes in pieces', async () => {
    const output = 'x'.repeat(4_000_000);
    service.answers(events('event: result\ndata: ', JSON.stringify({ output }), '\n\n'));
    expect((await ask()).output.length).toBe(output.length);
  });
});

describe('time', () => {
  it('[WIRE-HTTP-08] a call that is aborted leaves, and throws the reason', async () => {
    const left = vi.fn();
    service.answers(silent(left));
    const abort = new AbortController();
    const call = client.runCommand({ command: 'sleep' }, { signal: abort.signal });
    call.catch(() => {});
    await expect.poll(() => service.asked).toHaveLength(1);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => left.mock.calls.length).toBe(1);
  });

  it('a call with a signal that is aborted already is not sent', async () => {
    await expect(client.whoAmI({}, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
    expect(service.asked).toEqual([]);
  });

  it('an abort ends the pause before a retry', async () => {
    service.answers(unavailable);
    const abort = new AbortController();
    const call = client.listSandboxes({}, { signal: abort.signal, maxRetries: 100 });
    call.catch(() => {});
    await expect.poll(() => service.asked.length).toBeGreaterThan(0);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });

  it('a call has a timeout, the client’s or its own', async () => {
    service.answers(silent(), silent());
    expect(await failureOf(client.whoAmI({}, { timeoutMs: 30 }))).toMatchObject({
      code: 'timeout',
      status: 0,
    });
    expect(await failureOf(connect({ timeoutMs: 30 }).whoAmI())).toMatchObject({ code: 'timeout' });
  });
});

describe('iterators', () => {
  it('[SBX-LIST-06] walk over numbered pages, asking for the next only when it is wanted', async () => {
    const page = (number: number) =>
      result({ sandboxes: [{ name: `a${number}` }, { name: `b${number}` }], total_pages: 2 });
    service.answers(page(1), page(2));
    const walk = client.iterate.listSandboxes({ state: 'started', page_size: 2 });
    expect((await walk.next()).value?.name).toBe('a1');
    expect(service.asked).toHaveLength(1);
    const rest: string[] = [];
    for await (const { name } of walk) rest.push(name);
    expect(rest).toEqual(['b1', 'a2', 'b2']);
    expect(service.asked.map(({ body }) => JSON.parse(body))).toEqual([
      { state: 'started', page_size: 2, page: 1 },
      { state: 'started', page_size: 2, page: 2 },
    ]);
  });

  it('[SBX-FILES-24] walk over offsets, by what each page held', async () => {
    service.answers(result({ paths: ['a', 'b'], has_more: true }), result({ paths: ['c'], has_more: false }));
    const found: string[] = [];
    for await (const path of client.iterate.findFiles({ pattern: '*', offset: 3 })) found.push(path);
    expect(found).toEqual(['a', 'b', 'c']);
    expect(service.asked.map(({ body }) => JSON.parse(body).offset)).toEqual([3, 5]);
  });

  it('end where a page promises more and has nothing', async () => {
    service.answers(result({ files: [], has_more: true }));
    expect(await client.iterate.listFiles().next()).toEqual({ done: true, value: undefined });
  });

  it('end where there is nothing, and throw what a page throws', async () => {
    service.answers(result({ sandboxes: [], total_pages: 0 }), problem('permission_denied', 403));
    expect(await client.iterate.listSandboxes().next()).toMatchObject({ done: true });
    expect(await failureOf(client.iterate.listSandboxes().next())).toMatchObject({
      code: 'permission_denied',
    });
  });
});

describe('snapshots', () => {
  it('are deleted by name or ID, and an error is thrown as of any call', async () => {
    service.answers(result({ id: 'snap_1', name: 'a b', deleted: true }));
    expect(await client.snapshots.delete('a b')).toEqual({ id: 'snap_1', name: 'a b', deleted: true });
    expect(service.asked).toMatchObject([
      { method: 'POST', path: '/v1/admin/DeleteSnapshot', body: '{"snapshot":"a b"}' },
    ]);
    service.answers(problem('not_found', 404));
    await expect(client.snapshots.delete('none')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('access', () => {
  it('is revoked, of both kinds or of one, and an error is thrown as of any call', async () => {
    const both = { sandbox: 'sb_1', ssh: 2, previews: 3, revoked: true };
    service.answers(result(both), result({ ...both, previews: 0 }));
    expect(await client.access.revoke('my box')).toEqual(both);
    expect(await client.access.revoke('my box', { kind: 'ssh' })).toMatchObject({ previews: 0 });
    expect(service.asked).toMatchObject([
      { method: 'POST', path: '/v1/admin/RevokeAccess', body: '{"sandbox":"my box"}' },
      { method: 'POST', path: '/v1/admin/RevokeAccess', body: '{"sandbox":"my box","kind":"ssh"}' },
    ]);
    service.answers(problem('not_found', 404));
    await expect(client.access.revoke('none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of one token is shown and revoked', async () => {
    const token = { sandbox: 'sb_1', kind: 'ssh', port: null, created_at: 'then', expires_at: null };
    service.answers(result(token), result(token));
    expect(await client.access.show('secret')).toEqual(token);
    expect(await client.access.revokeToken('my box', 'secret')).toEqual(token);
    expect(service.asked).toMatchObject([
      { path: '/v1/admin/GetAccessToken', body: '{"token":"secret"}' },
      { path: '/v1/admin/RevokeAccessToken', body: '{"sandbox":"my box","token":"secret"}' },
    ]);
  });
});

describe('administration', () => {
  it('calls an action by its name, which stays one part of the path, and never sends it twice', async () => {
    service.answers(result({ users: [] }), unavailable);
    expect(await client.administration.call('ListUsers', { page: 2 })).toEqual({ users: [] });
    await expect(client.administration.call('../tools/x')).rejects.toMatchObject({ code: 'unavailable' });
    expect(service.asked).toMatchObject([
      { method: 'POST', path: '/v1/admin/ListUsers', body: '{"page":2}' },
      { method: 'POST', path: '/v1/admin/..%2Ftools%2Fx', body: '{}' },
    ]);
  });
});

describe('bytes of files', () => {
  it('[WIRE-BYTES-01, WIRE-BYTES-04] go up from a stream, with mode and parents', async () => {
    service.answers(result({ path: 'a b', bytes_written: 5, created: true }));
    const stream = new Blob(['he', 'llo']).stream();
    const options = { mode: '755', createParents: false };
    expect(await client.files.upload('my box', 'a b', stream, options)).toMatchObject({ bytes_written: 5 });
    expect(service.asked).toMatchObject([
      {
        method: 'PUT',
        path: '/v1/sandboxes/my%20box/files?path=a+b&mode=755&create_parents=false',
        headers: { 'content-type': 'application/octet-stream' },
        body: 'hello',
      },
    ]);
  });

  it('[WIRE-USER-01] go and come in the name of a Linux user', async () => {
    service.answers(result({ path: '~/a', bytes_written: 1, created: true }), (response) =>
      response.end('x'),
    );
    await client.files.upload('demo', '~/a', 'x', { user: 'ann' });
    await client.files.download('demo', '~/a', { user: '1000' });
    expect(service.asked.map(({ path }) => path)).toEqual([
      '/v1/sandboxes/demo/files?path=%7E%2Fa&user=ann',
      '/v1/sandboxes/demo/files?path=%7E%2Fa&user=1000',
    ]);
  });

  it('[WIRE-BYTES-02, WIRE-BYTES-03] come down whole or in part', async () => {
    service.answers(
      (response) => response.writeHead(200, { 'content-length': 5 }).end('hello'),
      (response) => response.writeHead(206).end('ell'),
    );
    const whole = await client.files.download('demo', 'a');
    expect([whole.size, await whole.text()]).toEqual([5, 'hello']);
    const part = await client.files.download('demo', 'a', { start: 1, end: 3 });
    expect(new TextDecoder().decode(await part.bytes())).toBe('ell');
    expect(service.asked.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1-3']);
  });

  it('end in an error when the service refuses them or the connection breaks off', async () => {
    service.answers(problem('not_found', 404), problem('too_large', 413), (response) => {
      response.writeHead(200, { 'content-length': 5 });
      response.write('he', () => response.destroy());
    });
    expect(await failureOf(client.files.download('demo', 'a'))).toMatchObject({ code: 'not_found' });
    expect(await failureOf(client.files.upload('demo', 'a', 'x'))).toMatchObject({ code: 'too_large' });
    const download = await client.files.download('demo', 'a');
    expect(await failureOf(download.bytes())).toMatchObject({ code: 'unavailable' });
  });

  it('stop coming when their signal is aborted', async () => {
    service.answers((response) => void response.writeHead(200, { 'content-length': 5 }).write('he'));
    const abort = new AbortController();
    const download = await client.files.download('demo', 'a', { signal: abort.signal, timeoutMs: 60_000 });
    abort.abort(new Error('enough'));
    await expect(download.bytes()).rejects.toThrow('enough');
  });
});
