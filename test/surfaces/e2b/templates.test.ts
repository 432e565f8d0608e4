/** Templates that E2B's clients build, by their control API: every value here is one that they send or read. */
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dockerfile } from '../../../src/control/ports/index.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { tarOf } from '../../control/builds/archives.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

let http: Harness;

beforeEach(async () => {
  http = await startHttp({ further: addE2bRoutes });
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/e2b/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
  });
  const answer = await response.text();
  return { status: response.status, body: answer === '' ? {} : JSON.parse(answer) };
}

const announce = (body: Body = {}) =>
  call('POST', '/v3/templates', { name: 'tools', cpuCount: 1, memoryMB: 1_024, ...body });

async function begun(template: Body) {
  const { buildID } = (await announce()).body;
  const answer = await call('POST', `/v2/templates/tools/builds/${buildID}`, template);
  return { buildID, answer, build: http.builds.at(-1) };
}

const statusOf = async (buildID: string, offset = 0) =>
  (await call('GET', `/templates/tools/builds/${buildID}/status?logsOffset=${offset}`)).body;

/** Instructions as a Dockerfile has them, each with its line. */
const instructions = (build = http.builds.at(-1)) =>
  (build?.request.dockerfile as Dockerfile | undefined)?.instructions.map(
    ({ line, keyword, flags, text: words }) =>
      [line, keyword, ...flags.map(({ name, value }) => `--${name}=${value}`), words].join(' '),
  );

const refused = (status: number, message: RegExp) => ({
  status,
  body: { code: status, message: expect.stringMatching(message) },
});

describe('a template', () => {
  it('is announced with its sizes, and has its name as its id', async () => {
    expect(await announce()).toEqual({
      status: 202,
      body: {
        ...{ templateID: 'tools', buildID: expect.stringMatching(/^build_[0-9a-z]{16}$/), public: false },
        ...{ names: ['tools'], aliases: ['tools'], tags: ['default'] },
      },
    });
    await begun({ steps: [] });
    expect(http.builds[0]?.request).toMatchObject({
      ...{ name: 'tools', resources: { cpu: 1, memory: 1 }, isCached: true },
    });
  });

  it('has one tag, which is a part of the name of its snapshot', async () => {
    expect((await announce({ name: 'tools:v1' })).body).toMatchObject({
      templateID: 'tools--v1',
      tags: ['v1'],
    });
    expect((await announce({ name: 'tools', tags: ['default'] })).body).toMatchObject({
      templateID: 'tools',
    });
    expect(await announce({ name: 'tools:v1', tags: ['v2'] })).toMatchObject(refused(501, /one tag/));
  });

  it.each([
    [{ name: 'a/b' }, 400, /name/],
    [{ tags: 'v1' }, 400, /tags/],
    [{ tags: 7 }, 400, /tags/],
    [{ cpuCount: 0 }, 400, /cpu/],
    [{ memoryMB: 10_000_000 }, 400, /memory/],
  ])('is refused with %j', async (body, status, message) => {
    expect(await announce(body)).toMatchObject(refused(status, message));
  });

  it('begins at the base image with the user and folder that programs expect', async () => {
    await begun({ fromImage: 'e2bdev/base', steps: [] });
    expect(instructions()).toEqual(['0 FROM base', '0 USER user', '0 RUN ["true"]', '0 WORKDIR /home/user']);
    await begun({ fromTemplate: 'base' });
    expect(instructions()?.[0]).toBe('0 FROM base');
    await begun({ fromImage: 'debian:13' });
    expect(instructions()?.slice(0, 2)).toEqual(['0 FROM debian:13', '0 USER user']);
  });

  it('begins at another template as that one is', async () => {
    const { sandboxID } = (await call('POST', '/sandboxes', { templateID: 'base', timeout: 300 })).body;
    await call('POST', `/sandboxes/${sandboxID}/snapshots`, { name: 'point' });
    await begun({ fromTemplate: 'point', steps: [{ type: 'RUN', args: ['make'] }] });
    expect(instructions()).toEqual(['0 FROM point', '1 RUN ["/bin/bash","-l","-c","make"]']);
    expect((await begun({ fromTemplate: 'none' })).answer).toMatchObject(refused(404, /no snapshot/));
  });

  it('has its steps in order, each as its user, and the command that its sandboxes start with', async () => {
    const steps = [
      { type: 'ENV', args: ['A', 'one "two" $B', 'C', '3'] },
      { type: 'RUN', args: ['echo "$A" \\\n  && true', 'root'] },
      { type: 'USER', args: ['ann'] },
      { type: 'WORKDIR', args: ['/my app'] },
      { type: 'RUN', args: ['id', 'root'] },
    ];
    await begun({ steps, startCmd: 'python3 -m http.server' });
    expect(instructions()?.slice(4)).toEqual([
      '1 ENV A="one \\"two\\" \\$B" C=3',
      '2 USER root',
      '2 RUN ["/bin/bash","-l","-c","echo \\"$A\\" \\\\\\n  && true"]',
      '2 USER user',
      '3 USER ann',
      '4 WORKDIR "/my app"',
      '5 USER root',
      '5 RUN ["/bin/bash","-l","-c","id"]',
      '5 USER ann',
      '5 ENTRYPOINT ["/bin/bash","-l","-c","python3 -m http.server"]',
    ]);
  });

  it.each([
    [{ force: true }],
    [
      {
        steps: [
          { type: 'RUN', args: ['a'] },
          { type: 'RUN', args: ['b'], force: true },
        ],
      },
    ],
  ])('runs every step when it is forced: %j', async (template) => {
    await begun(template);
    expect(http.builds[0]?.request.isCached).toBe(false);
  });

  it.each([
    [{ steps: [{ type: 'NO', args: [] }] }, 400, /Step 1/],
    [{ steps: [{ type: 'COPY', args: ['a', 'b'] }] }, 400, /Step 1 names no files/],
    [{ steps: [{ type: 'COPY', args: ['a', 'b'], filesHash: '../x' }] }, 400, /hash/],
    [{ fromImageRegistry: { type: 'registry', username: 'a', password: 'b' } }, 501, /fromImageRegistry/],
  ])('is not begun with %j', async (template, status, message) => {
    expect((await begun(template)).answer).toMatchObject(refused(status, message));
    expect(http.builds).toEqual([]);
  });
});

describe('files of a template', () => {
  const address = (hash: string, key = API_KEY) =>
    call('GET', `/templates/tools/files/${hash}`, undefined, key);
  const put = async (url: string, body: string) =>
    (await fetch(url, { method: 'PUT', body: Buffer.from(body, 'latin1') })).status;
  const tar = async (files: Record<string, string>) => text(latin1(tarOf(files)));
  async function* latin1(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) yield piece.toString('latin1');
  }
  const copy = (filesHash: string, ...args: string[]) => ({ type: 'COPY', args, filesHash });

  it('are sent once to an address, and stand below their hash', async () => {
    const first = (await address('a1')).body;
    expect(first).toEqual({ present: false, url: expect.stringMatching(/\/template-files\/[0-9a-z]{40}$/) });
    expect(await put(first.url, await tar({ 'src/x.txt': 'x' }))).toBe(200);
    expect(await put(first.url, 'again')).toBe(404);
    expect((await address('a1')).body.present).toBe(true);
    expect((await address('a1', MEMBER_KEY)).body.present).toBe(false);
    const zipped = gzipSync(Buffer.from(await tar({ y: 'y' }), 'latin1')).toString('latin1');
    await put((await address('b2')).body.url, zipped);
    await begun({
      steps: [
        copy('a1', 'src/*', 'to', '', ''),
        copy('b2', 'y', '/it', 'root', '0755'),
        copy('a1', 'src', 'all'),
      ],
    });
    expect(http.builds[0]?.files).toEqual({ 'a1/src/x.txt': 'x', 'b2/y': 'y' });
    expect(instructions()?.slice(4)).toEqual([
      '1 COPY --chown=user a1/src/* to/',
      '2 COPY --chown=root --chmod=0755 b2/y /it',
      '3 COPY --chown=user a1/src all',
    ]);
  });

  it('that were not sent, or cannot be read, are refused', async () => {
    expect((await begun({ steps: [copy('c3', 'x', 'x')] })).answer).toMatchObject(
      refused(400, /were not sent/),
    );
    await put((await address('d4')).body.url, '\x1f\x8bno gzip');
    expect((await begun({ steps: [copy('d4', 'x', 'x')] })).answer).toMatchObject(refused(400, /gzip/));
    await put((await address('e5')).body.url, 'no tar'.repeat(200));
    expect((await begun({ steps: [copy('e5', 'x', 'x')] })).answer).toMatchObject(refused(400, /tar/));
    expect(http.builds).toEqual([]);
  });
});

describe('a build', () => {
  it('is waiting, building with its log, and ready', async () => {
    const { buildID } = (await announce()).body;
    expect(await statusOf(buildID)).toEqual({
      ...{ templateID: 'tools', buildID, status: 'waiting', logs: [], logEntries: [] },
    });
    await call('POST', `/v2/templates/tools/builds/${buildID}`, { steps: [] });
    const build = http.builds[0];
    build?.say({ event: 'step', step: 1, of: 2, stage: '0', line: 0, text: 'FROM base' });
    build?.say({ event: 'step', step: 2, of: 2, stage: '0', line: 1, text: 'RUN make', cached: true });
    build?.say({ event: 'output', stream: 'stderr', text: 'warned\n' });
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(await statusOf(buildID, 1)).toMatchObject({
      status: 'building',
      logEntries: [
        { timestamp, level: 'info', message: '[2/2] RUN make  (kept)' },
        { timestamp, level: 'warn', message: 'warned' },
      ],
    });
    build?.end.resolve({ id: 'snap_1' } as never);
    await expect.poll(async () => (await statusOf(buildID)).status).toBe('ready');
    expect((await call('POST', `/v2/templates/tools/builds/${buildID}`, {})).status).toBe(409);
  });

  it('that fails names its step', async () => {
    const { buildID, build } = await begun({ steps: [{ type: 'RUN', args: ['false'] }] });
    build?.say({ event: 'step', step: 5, of: 5, stage: '0', line: 1, text: 'RUN false' });
    build?.say({ event: 'failed', line: 1, exit_code: 1 });
    build?.end.reject(new Error('a secret of the host'));
    await expect
      .poll(async () => await statusOf(buildID, 1))
      .toMatchObject({
        ...{ status: 'error', reason: { message: 'The build failed.', step: '1' } },
        logEntries: [{ level: 'error', message: 'It ended with exit code 1.' }],
      });
  });

  it('is unknown to others, and so is one that never was', async () => {
    const { buildID } = await begun({ steps: [] });
    const path = `/templates/tools/builds/${buildID}/status`;
    expect(await call('GET', path, undefined, MEMBER_KEY)).toMatchObject(refused(404, /no build/));
    expect(await call('GET', '/templates/tools/builds/build_no/status')).toMatchObject(
      refused(404, /no build/),
    );
  });
});
