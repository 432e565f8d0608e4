/** The storage for files of builds: the requests of S3 that Daytona's clients send, and what they read of the answers. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { tarOf } from '../../control/builds/archives.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let access: Record<string, string>;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  access = await lent(API_KEY);
});

afterEach(() => http.close());

const authorization = (key: string) => ({ authorization: `Bearer ${key}` });

async function lent(key: string): Promise<Record<string, string>> {
  const url = `${http.url}/daytona/api/object-storage/push-access`;
  return (await (await fetch(url, { headers: authorization(key) })).json()) as Record<string, string>;
}

const keyOf = (hash: string, { organizationId } = access) => `${organizationId}/${hash}/context.tar`;

/** @param path After the bucket. */
async function s3(method: string, path: string, body?: string, token = access['sessionToken'] ?? '') {
  const response = await fetch(`${access['storageUrl']}/${access['bucket']}${path}`, {
    method,
    headers: { 'x-amz-security-token': token, authorization: 'AWS4-HMAC-SHA256 Credential=sandhaven' },
    ...(body === undefined ? {} : { body: Buffer.from(body, 'latin1') }),
  });
  const answer = await response.text();
  return { status: response.status, text: answer, tag: response.headers.get('etag') ?? '' };
}

async function tar(files: Record<string, string>): Promise<string> {
  async function* latin1(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) yield piece.toString('latin1');
  }
  return text(latin1(tarOf(files)));
}

/** @returns The files of the build's context. */
async function filesOf(...contextHashes: string[]): Promise<unknown> {
  const buildInfo = { dockerfileContent: 'FROM base\nCOPY /app /app', contextHashes };
  const response = await fetch(`${http.url}/daytona/api/snapshots`, {
    method: 'POST',
    headers: { ...authorization(API_KEY), 'content-type': 'application/json' },
    body: JSON.stringify({ name: `s${http.builds.length}`, buildInfo }),
  });
  expect(response.status).toBe(200);
  return http.builds.at(-1)?.files;
}

const list = (hash: string) =>
  s3('GET', `?list-type=2&max-keys=1&prefix=${access['organizationId']}/${hash}/`);

describe('an archive', () => {
  it('is looked for, sent, and found by its build beside others', async () => {
    expect(access).toEqual({
      ...{ accessKey: 'sandhaven', secret: 'unused', sessionToken: expect.stringMatching(/^[0-9a-z]{40}$/) },
      ...{ storageUrl: `${http.url}/daytona/storage`, bucket: 'builds', region: 'us-east-1' },
      organizationId: 'user_1',
    });
    expect((await s3('HEAD', `/${keyOf('a1')}`)).status).toBe(404);
    expect((await list('a1')).text).toMatch(/<KeyCount>0<\/KeyCount><IsTruncated>false</);
    expect(await s3('PUT', `/${keyOf('a1')}`, await tar({ 'app/x': 'x' }))).toMatchObject({
      status: 200,
      tag: '"1"',
    });
    expect((await s3('HEAD', `/${keyOf('a1')}`)).status).toBe(200);
    expect((await list('a1')).text).toContain('<Key>user_1/a1/context.tar</Key>');
    await s3('PUT', `/${keyOf('b2')}`, await tar({ 'app/y': 'y' }));
    expect(await filesOf('a1', 'b2')).toEqual({ 'app/x': 'x', 'app/y': 'y' });
  });

  it('comes in parts, in any order', async () => {
    const path = `/${keyOf('c3')}`;
    const whole = await tar({ 'app/z': 'z'.repeat(3_000) });
    const begun = await s3('POST', `${path}?uploads=`);
    const [, id] = /<UploadId>(\w+)<\/UploadId>/.exec(begun.text) ?? [];
    const send = (part: number, body: string) => s3('PUT', `${path}?partNumber=${part}&uploadId=${id}`, body);
    expect(await send(2, whole.slice(1_000))).toMatchObject({ status: 200, tag: '"2"' });
    expect(await send(1, whole.slice(0, 1_000))).toMatchObject({ status: 200, tag: '"1"' });
    expect((await s3('HEAD', path)).status).toBe(404);
    const parts = [1, 2].map((part) => `<Part><ETag>"${part}"</ETag><PartNumber>${part}</PartNumber></Part>`);
    const end = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    expect(await s3('POST', `${path}?uploadId=${id}`, end)).toMatchObject({
      status: 200,
      text: expect.stringContaining('<Key>user_1/c3/context.tar</Key><ETag>'),
    });
    expect(await filesOf('c3')).toEqual({ 'app/z': 'z'.repeat(3_000) });
  });

  it('in parts can be given up', async () => {
    const path = `/${keyOf('d4')}`;
    const begun = await s3('POST', `${path}?uploads=`);
    const [, id] = /<UploadId>(\w+)<\/UploadId>/.exec(begun.text) ?? [];
    expect((await s3('DELETE', `${path}?uploadId=${id}`)).status).toBe(204);
    expect(await s3('PUT', `${path}?partNumber=1&uploadId=${id}`, 'x')).toMatchObject({
      status: 404,
      text: expect.stringContaining('<Code>NoSuchUpload</Code>'),
    });
  });
});

describe('the storage refuses', () => {
  it('whom nothing was lent, and keys of others', async () => {
    const path = `/${keyOf('a1')}`;
    for (const token of ['', 'x', API_KEY])
      expect(await s3('PUT', path, 'x', token)).toMatchObject({
        status: 403,
        text: expect.stringMatching(
          /<Code>AccessDenied<\/Code><Message>[^<]+ Ask for access to the storage again\.<\/Message>/,
        ),
      });
    const other = await lent(MEMBER_KEY);
    for (const key of [keyOf('a1', other), 'user_1/a1/other', 'user_1/../x/context.tar', 'x'])
      expect((await s3('PUT', `/${key}`, 'x')).status).toBe(400);
    expect((await s3('GET', '?prefix=')).status).toBe(400);
  });

  it('more than sixteen bodies at once of one owner, and takes those of others meanwhile', async () => {
    const headers = { 'x-amz-security-token': access['sessionToken'] };
    const slow = Array.from({ length: 16 }, (_, count) => {
      const url = `${access['storageUrl']}/builds/${keyOf(`slow${count}`)}`;
      const sent = request(url, { method: 'PUT', headers }).on('error', () => {});
      sent.write('x');
      return sent;
    });
    await expect.poll(async () => (await s3('PUT', `/${keyOf('more')}`, 'x')).text).toContain('SlowDown');
    const other = await lent(MEMBER_KEY);
    expect(await s3('PUT', `/${keyOf('a1', other)}`, 'x', other['sessionToken'])).toMatchObject({
      status: 200,
    });
    for (const sent of slow) sent.destroy();
    await expect.poll(async () => (await s3('PUT', `/${keyOf('more')}`, 'x')).status).toBe(200);
  });

  it('bytes in signed chunks, and lists of parts without an end', async () => {
    const path = `/${keyOf('a1')}`;
    const response = await fetch(`${access['storageUrl']}/builds${path}`, {
      method: 'PUT',
      headers: { 'x-amz-security-token': access['sessionToken'] ?? '', 'content-encoding': 'aws-chunked' },
      body: 'x',
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('signed chunks')]);
    expect((await s3('POST', `${path}?uploadId=x`, 'x'.repeat(300_000))).text).toContain('too long');
  });
});
