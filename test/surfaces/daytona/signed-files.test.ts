/** Files by signed addresses, without a key: the form that Daytona's clients sign. */

import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SignedFile, SignedRequest } from '../../../src/control/access/signed-files.ts';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { createFakeServices } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const QUERY = 'path=a+b.txt&expires=4102444800';
/** HMAC-SHA256 with "key" over "v1:files:GET:a b.txt:4102444800", and over POST. */
const GET = 'v1_70zc31OC3_wdAmuvYn7c70XYczIme10Rt1gGLI5cyrQ';
const POST = 'v1_BX9fQVsQA6vtLsH8MVjqjrSNzr2JiLYEJKTbkdZERiw';

let http: Harness;
let written: string[];

const signedFiles = {
  async visit(request: SignedRequest, work: (file: SignedFile) => Promise<unknown>) {
    if (!request.isSigned('key')) throw new SandhavenError('permission_denied', 'It is not signed.');
    expect(request).toMatchObject({ sandboxId: 'sb_1', path: 'a b.txt', expiresAt: 4_102_444_800_000 });
    return work({
      read: async () => ({ size: 3, stream: Readable.from([Buffer.from('abc')]) }),
      write: async (content) => void written.push(await text(content)),
    });
  },
};

beforeAll(async () => {
  const services = { ...createFakeServices().services, signedFiles } as unknown as Services;
  http = await startHttp({ services, further: addDaytonaRoutes });
});
beforeEach(() => {
  written = [];
});
afterAll(() => http.close());

const at = (route: string, signature: string, init: RequestInit = {}) =>
  fetch(`${http.url}/daytona/toolbox/sb_1/files/${route}?${QUERY}&signature=${signature}`, init);

it('a signed address gives the file', async () => {
  const answer = await at('download', GET);
  expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 200, body: 'abc' });
});

it('a signed address takes a file, as a form or as it is', async () => {
  const body = new FormData();
  body.append('file', new Blob(['in a form']), 'x');
  expect((await at('upload-v2', POST, { method: 'POST', body })).status).toBe(200);
  expect((await at('upload-v2', POST, { method: 'POST', body: 'as it is' })).status).toBe(200);
  expect(written).toEqual(['in a form', 'as it is']);
});

it.each([
  ['download', POST, 'GET', 403],
  ['upload-v2', GET, 'POST', 403],
  ['download', `${GET}x`, 'GET', 403],
  ['download', '', 'GET', 403],
  ['upload', POST, 'POST', 401],
  ['info', GET, 'GET', 401],
])('%s is refused with the signature %s', async (route, signature, method, status) => {
  const answer = await at(route, signature, { method, ...(method === 'POST' ? { body: 'x' } : {}) });
  expect(answer.status).toBe(status);
  expect(written).toEqual([]);
});
