/** HTTP's own promises, kept by a real service with real sandboxes. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../../deep/parts.ts';
import { call, must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

let service: SharedService;
let sandbox: string;

beforeAll(async () => {
  service = await sharedService();
  sandbox = String((await must(service, 'CreateSandbox', { name: 'system http' }))['name']);
});

afterAll(() => service?.stop());

function bytesUrl(path: string, query: Record<string, string> = {}): string {
  return `${service.url}/v1/sandboxes/${encodeURIComponent(sandbox)}/files?${new URLSearchParams({ path, ...query })}`;
}

function send(url: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { authorization: `Bearer ${service.apiKey}`, ...init.headers } });
}

async function shell(command: string): Promise<string> {
  return String((await must(service, 'RunCommand', { sandbox, command }))['stdout']);
}

describe('the byte routes', () => {
  it('[WIRE-BYTES-01] [WIRE-BYTES-02] [WIRE-BYTES-04] take more in and out than a result may hold, byte for byte', async () => {
    // A result may hold 16 MiB.
    const megabytes = inPart('output') ? 100 : 20;
    const piece = randomBytes(1_000_000);
    const sent = createHash('sha256');
    const body = Readable.from(
      (function* () {
        for (let index = 0; index < megabytes; index++) {
          sent.update(piece);
          yield piece;
        }
      })(),
    );
    const put = await send(bytesUrl('deep/large file', { mode: '0640' }), {
      method: 'PUT',
      body: Readable.toWeb(body) as ReadableStream,
      duplex: 'half',
    });
    expect(await put.json()).toEqual({
      path: 'deep/large file',
      bytes_written: megabytes * 1_000_000,
      created: true,
    });
    const digest = sent.digest('hex');
    expect(await shell("sha256sum 'deep/large file'; stat -c %a 'deep/large file'")).toBe(
      `${digest}  deep/large file\n640\n`,
    );

    const got = createHash('sha256');
    const response = await send(bytesUrl('deep/large file'));
    expect(response.headers.get('content-length')).toBe(`${megabytes}000000`);
    for await (const chunk of response.body ?? []) got.update(chunk);
    expect(got.digest('hex')).toBe(digest);
  });

  it('[WIRE-BYTES-03] give ranges, HEAD, and files of /proc', async () => {
    await shell('printf 0123456789 > ten; : > empty');
    const range = async (value: string, path = 'ten') => {
      const response = await send(bytesUrl(path), { headers: { range: value } });
      return [
        response.status,
        response.headers.get('content-range'),
        response.status === 206 ? await response.text() : '',
      ];
    };
    expect(await range('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await range('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await range('bytes=-2')).toEqual([206, 'bytes 8-9/10', '89']);
    expect(await range('bytes=10-')).toEqual([416, 'bytes */10', '']);
    expect(await range('bytes=0-0', 'empty')).toEqual([416, 'bytes */0', '']);
    expect((await send(bytesUrl('ten'), { method: 'HEAD' })).headers.get('content-length')).toBe('10');
    expect(await (await send(bytesUrl('empty'))).text()).toBe('');
    expect(await (await send(bytesUrl('/proc/meminfo'))).text()).toMatch(/^MemTotal:/);
  });

  it('[WIRE-FILES-12] refuse what is no file, in the words of the tools', async () => {
    await shell('mkfifo fifo');
    for (const [path, code] of [
      ['nope', 'not_found'],
      ['fifo', 'invalid_argument'],
      ['/dev/zero', 'invalid_argument'],
      ['/tmp', 'invalid_argument'],
    ] as const) {
      expect(await (await send(bytesUrl(path))).json(), path).toMatchObject({ code });
      expect((await send(bytesUrl(path), { method: 'HEAD' })).ok, path).toBe(false);
    }
    const refused = await send(bytesUrl('none/x', { create_parents: 'false' }), { method: 'PUT', body: 'x' });
    expect(await refused.json()).toMatchObject({ code: 'not_found' });
  });

  it('[WIRE-FILES-14] leave the file as it was when the client breaks off', async () => {
    await shell('echo before > kept');
    const controller = new AbortController();
    const body = new ReadableStream({
      async pull(stream) {
        stream.enqueue(randomBytes(100_000));
        await sleep(20);
      },
    });
    const put = send(bytesUrl('kept'), { method: 'PUT', body, duplex: 'half', signal: controller.signal });
    await sleep(300);
    controller.abort();
    await put.catch(() => {});
    await sleep(300);
    expect(await shell('cat kept; ls -a | grep -vxE "\\.|\\.\\.|kept|deep|ten|empty|fifo"; true')).toBe(
      'before\n',
    );
  });
});

describe('calls', () => {
  it('[WIRE-HTTP-08] a client that goes away cancels its command, to the last process', async () => {
    const controller = new AbortController();
    const running = send(`${service.url}/v1/tools/Sandbox.RunCommand`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sandbox, command: 'setsid sleep 4242 & sleep 4243' }),
      signal: controller.signal,
    }).catch(() => null);
    await expect.poll(() => shell('pgrep -c -f "^sleep 424" || true')).toBe('2\n');
    controller.abort();
    await running;
    await expect.poll(() => shell('pgrep -c -f "^sleep 424" || true'), { timeout: 5_000 }).toBe('0\n');
  });

  it('[WIRE-HTTP-09] a client that goes away does not cancel what it created', async () => {
    const controller = new AbortController();
    const creating = send(`${service.url}/v1/tools/Sandbox.CreateSandbox`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'left behind' }),
      signal: controller.signal,
    }).catch(() => null);
    await sleep(5);
    controller.abort();
    await creating;
    await expect
      .poll(async () => (await call(service, 'GetSandbox', { sandbox: 'left behind' })).body['state'], {
        timeout: 10_000,
      })
      .toBe('started');
    await must(service, 'DeleteSandbox', { sandbox: 'left behind' });
  });

  it('[WIRE-HTTP-04] an event stream gives the result of a long command', async () => {
    const response = await send(`${service.url}/v1/tools/Sandbox.RunCommand`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ sandbox, command: 'sleep 1; echo done' }),
    });
    const text = await response.text();
    expect(text).toMatch(/^: /);
    expect(JSON.parse(/^event: result\ndata: (.*)$/m.exec(text)?.[1] ?? '{}')).toMatchObject({
      stdout: 'done\n',
    });
  });

  it('[WIRE-BYTES-05] a file too large for a result names the byte route', async () => {
    await shell('truncate -s 17M large');
    const { status, body } = await call(service, 'ReadFile', { sandbox, path: 'large' });
    expect(status).toBe(413);
    expect(body).toMatchObject({
      code: 'too_large',
      hint: expect.stringContaining('/v1/sandboxes/{sandbox}/files'),
    });
  });
});

describe('the listeners of API, previews and SSH', () => {
  it('keep 4,096 new connections while the service has no turn for them', () => {
    const rows = execFileSync('ss', ['--listening', '--tcp', '--numeric', '--processes', '--no-header'], {
      encoding: 'utf8',
    });
    const ofApi = rows.split('\n').find((row) => row.includes(` 127.0.0.1:${new URL(service.url).port} `));
    const ofService = /pid=\d+,/.exec(ofApi ?? '')?.[0] ?? 'none';
    const own = rows.split('\n').filter((row) => row.includes(ofService));
    const kept = own
      .map((row) => row.split(/\s+/))
      .filter(([, , , address]) => address?.startsWith('127.0.0.1:'))
      .map(([, , room]) => Number(room));
    expect(kept).toEqual([4_096, 4_096, 4_096]);
  });
});
