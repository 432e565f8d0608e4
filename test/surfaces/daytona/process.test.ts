/** One program of a Daytona client: its answer, however much it prints, and what ends it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecResult, LiveOutput, LivePiece } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import { notFound } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Request = Record<string, unknown> & { live?: LiveOutput };

let http: Harness;
let sandbox: string;
/** Programs that were asked for. */
let asked: Request[];
let run: (live: LiveOutput) => Promise<Partial<ExecResult> & { charts?: unknown[] }>;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  asked = [];
  run = async () => ({});
  const execute = async (_caller: unknown, _reference: unknown, { live, ...request }: Request) => {
    asked.push(request);
    const result = await run(live as LiveOutput);
    const ended = { output: '', stdout: '', stderr: '', exitCode: 0, timedOut: false, truncated: false };
    return { ...ended, durationMs: 1, charts: [], ...result };
  };
  Object.assign(http.services, {
    execution: { runCommand: execute, runCode: execute } as unknown as Services,
  });
  const made = await http.call('Sandbox.CreateSandbox', { name: 'box', language: 'python' });
  sandbox = ((await made.json()) as { id: string }).id;
});

afterEach(() => http.close());

const piece = (stream: LivePiece['stream'], content: string | Buffer): LivePiece => ({
  stream,
  bytes: Buffer.from(content as string),
  leftOutBytes: 0,
});

async function post(path: string, body: unknown) {
  const response = await http.fetch(`/daytona/toolbox/${sandbox}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const get = async (path: string) => (await http.fetch(`/daytona/toolbox/${sandbox}${path}`)).json();

describe('execute', () => {
  it('answers with both streams as they came, and the exit code', async () => {
    run = async (live) => {
      expect(live.whole).toBe(true);
      live.show(piece('stdout', 'one\n'));
      live.show(piece('stderr', Buffer.from('é').subarray(0, 1)));
      live.show(piece('stdout', '"two"\n'));
      live.show(piece('stderr', Buffer.from('é').subarray(1)));
      return { exitCode: 3 };
    };
    const answer = await post('/process/execute', {
      command: 'make',
      cwd: '/srv',
      envs: { A: 'b' },
      timeout: 2.5,
    });
    expect(answer).toEqual({ status: 200, body: { result: 'one\n"two"\né', exitCode: 3 } });
    expect(asked).toEqual([{ command: 'make', cwd: '/srv', env: { A: 'b' }, timeoutMs: 3_000 }]);
  });

  it('takes no time, none of it and too much of it for the longest, and refuses what is none', async () => {
    for (const timeout of [undefined, null, 0, 86_400])
      await post('/process/execute', { command: 'make', timeout });
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([600_000, 600_000, 600_000, 600_000]);
    for (const timeout of [-1, '5']) {
      const { status, body } = await post('/process/execute', { command: 'make', timeout });
      expect([status, body['source']]).toEqual([400, 'DAYTONA_DAEMON']);
    }
  });

  it('takes the output of the result where an old agent shows none before', async () => {
    run = async () => ({ output: 'all of it\n' });
    expect((await post('/process/execute', { command: 'make' })).body['result']).toBe('all of it\n');
  });

  it('runs the script of old clients without a shell around it, which would expand what it exports', async () => {
    const script = "export A=$(echo 'JDE=' | base64 -d);export B=$(echo 'Yg==' | base64 -d); ";
    const piped = "echo 'ZWNobyAkQQ==' | base64 -d | sh";
    for (const command of [`sh -c "${script}${piped}"`, `sh -c "${piped}"`, `sh -c "${piped}"; id`]) {
      await post('/process/execute', { command });
    }
    expect(asked.map(({ command }) => command)).toEqual([script + piped, piped, `sh -c "${piped}"; id`]);
  });

  it('passes any amount of output on as it comes, and waits for its reader', async () => {
    // Characters of several bytes lie across the pieces.
    const bytes = Buffer.alloc(7 * 16_384, 'é🎈\n');
    let waits = 0;
    run = async (live) => {
      for (let count = 0; count < 1_022; count++) {
        const at = (count % 7) * 16_384;
        const wait = live.show(piece('stdout', bytes.subarray(at, at + 16_384)));
        waits += wait ? 1 : 0;
        await wait;
      }
      return { exitCode: 1 };
    };
    const { status, body } = await post('/process/execute', { command: 'make' });
    expect([status, body['exitCode']]).toEqual([200, 1]);
    const text = String(body['result']);
    expect(Buffer.byteLength(text)).toBe(1_022 * 16_384);
    expect(text.replaceAll('é🎈\n', '')).toBe('');
    expect(waits).toBeGreaterThan(0);
  });

  it('holds a program up whose client does not read', async () => {
    let shown = 0;
    run = async (live) => {
      for (; shown < 4_096; shown++) await live.show(piece('stdout', Buffer.alloc(16_384, 'x')));
      return {};
    };
    const socket = connect(http.port, '127.0.0.1').pause();
    const body = JSON.stringify({ command: 'yes' });
    socket.write(
      `POST /daytona/toolbox/${sandbox}/process/execute HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${API_KEY}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(() => shown).toBeGreaterThan(64);
    await sleep(100);
    const held = shown;
    await sleep(200);
    expect(shown).toBe(held);
    expect(held).toBeLessThan(4_096);
    socket.destroy();
    await once(socket, 'close');
    await expect.poll(() => shown).toBe(4_096);
  });

  it('answers 408 for a program over its time, and breaks off a long answer that fails', async () => {
    run = async (live) => {
      live.show(piece('stdout', 'half'));
      return { timedOut: true, exitCode: 124 };
    };
    const { status, body } = await post('/process/execute', { command: 'make' });
    expect([status, body['code'], body['statusCode']]).toEqual([408, 'PROCESS_EXECUTION_TIMEOUT', 408]);
    const long = async (live: LiveOutput) => {
      await live.show(piece('stdout', Buffer.alloc(1_100_000, 'x')));
    };
    run = async (live) => {
      await long(live);
      return { timedOut: true, exitCode: 124 };
    };
    expect((await post('/process/execute', { command: 'make' })).body['exitCode']).toBe(124);
    run = async (live) => {
      await long(live);
      throw new Error('secret /srv/path');
    };
    await expect(post('/process/execute', { command: 'make' })).rejects.toThrow();
  });

  it('answers with an error where nothing has begun', async () => {
    run = async () => {
      throw notFound('folder', 'There is no such folder.');
    };
    const { status, body } = await post('/process/execute', { command: 'make', cwd: '/nope' });
    expect([status, body['message']]).toEqual([404, 'There is no such folder.']);
    expect((await post('/process/execute', {})).status).toBe(400);
    expect((await post('/process/execute', { command: '' })).status).toBe(400);
  });
});

describe('code-run', () => {
  it('runs the language of the sandbox, with charts', async () => {
    const chart = {
      ...{ type: 'bar', title: 'T', x_label: 'x', y_label: null, x_scale: 'categorical', y_scale: 'linear' },
      elements: [{ label: 'a', value: 1.5, group: 'g' }],
      png: 'AAAA',
    };
    const box = {
      ...chart,
      type: 'box',
      elements: [{ label: 'b', min: 0, q1: 1, median: 2, q3: 3, max: 4, outliers: [9] }],
    };
    const line = {
      ...chart,
      type: 'line',
      elements: [
        {
          label: 'c',
          points: [
            [1, 2],
            ['mon', 3],
          ],
        },
      ],
    };
    run = async (live) => {
      live.show(piece('stdout', '1\n'));
      return { charts: [chart, { ...chart, type: 'composite', elements: [box, line] }] };
    };
    const { status, body } = await post('/process/code-run', { code: 'print(1)', language: 'python' });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: '1\n',
      exitCode: 0,
      artifacts: {
        charts: [
          { ...chart, elements: [{ label: 'a', value: '1.5', group: 'g' }] },
          {
            ...chart,
            type: 'composite_chart',
            elements: [
              {
                ...chart,
                type: 'box_and_whisker',
                elements: [
                  {
                    ...{ label: 'b', min: 0, first_quartile: 1, median: 2, third_quartile: 3, max: 4 },
                    outliers: [9],
                  },
                ],
              },
              { ...chart, type: 'line', elements: [{ label: 'c', points: [[1, 2]] }] },
            ],
          },
        ],
      },
    });
    expect(asked).toEqual([{ code: 'print(1)', timeoutMs: 300_000, user: undefined }]);
  });

  it('runs arguments, an environment and another language by a command', async () => {
    const code = "print('it''s')";
    await post('/process/code-run', { code, language: 'python', argv: ['-v', "o'k"], timeout: 5 });
    await post('/process/code-run', { code: '1', envs: { A: 'b' } });
    await post('/process/code-run', { code: 'let a', language: 'javascript', argv: ['-v'] });
    await post('/process/code-run', { code: 'let a: 1', language: 'typescript' });
    expect(asked.map(({ command, env }) => [command, env])).toEqual([
      [`exec 'python3' '-u' '-c' 'print('\\''it'\\'''\\''s'\\'')' '-v' 'o'\\''k'`, {}],
      [`exec 'python3' '-u' '-c' '1'`, { A: 'b' }],
      [`exec 'node' '-e' 'let a' '--' '-v'`, {}],
      [
        `exec 'node' '--experimental-transform-types' '--disable-warning=ExperimentalWarning' ` +
          `'--input-type=module-typescript' '-e' 'let a: 1' '--'`,
        {},
      ],
    ]);
    for (const wrong of [{ language: 'cobol' }, { argv: [1] }, { language: 'javascript', code: 1 }]) {
      expect((await post('/process/code-run', { code: '1', ...wrong })).status).toBe(400);
    }
  });
});

describe('a sandbox', () => {
  it('shows its size and use, and its ports', async () => {
    expect(await get('/version')).toEqual({ version: expect.any(String) });
    expect(await get('/system/metrics')).toEqual({
      ...{ cpuCount: 2, memTotal: 4_294_967_296, memUsed: 5_000_000 },
      ...{ diskTotal: 21_474_836_480, diskUsed: 90_000_000, diskFree: 21_384_836_480 },
      ...{ timestamp: expect.stringMatching(/Z$/), timestampUnix: expect.any(Number) },
    });
    expect(await get('/port')).toEqual({ ports: [80] });
    expect(await get('/port/80/in-use')).toEqual({ isInUse: true });
    expect(await get('/port/81/in-use')).toEqual({ isInUse: false });
  });

  it('says what there is not', async () => {
    for (const [path, sentence] of [
      ['/lsp/start', /language servers/],
      ['/computeruse/mouse/click', /desktop/],
      ['/env', /environment/],
      ['/process/else', /no POST .*\/process\/else/],
    ] as const) {
      const { status, body } = await post(path, {});
      expect([status, body['code'], body['message']]).toEqual([
        501,
        'NOT_IMPLEMENTED',
        expect.stringMatching(sentence),
      ]);
    }
  });
});
