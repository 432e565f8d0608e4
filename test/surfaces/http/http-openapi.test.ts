/** The OpenAPI description, as a linter and as a reader see it. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { errorTable } from '../../../src/model/errors.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;
let text: string;

beforeAll(async () => {
  http = await startHttp();
  text = await (await http.fetch('/openapi.json')).text();
});

afterAll(() => http.close());

describe('/openapi.json', () => {
  it('[WIRE-HTTP-03] is OpenAPI 3.1, with no complaint of the linter but that tunnels and terminals never answer 2xx', async () => {
    expect(JSON.parse(text)).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.3', 'x-toolkits': { DocumentDb: '0.4.0' } },
    });
    const problems = await lintFromString({
      source: text,
      config: await createConfig({ extends: ['recommended'] }),
    });
    expect(problems.map(({ ruleId, location }) => [ruleId, location[0]?.pointer])).toEqual([
      ['operation-2xx-response', '#/paths/~1v1~1sandboxes~1{sandbox}~1tunnel/get/responses'],
      ['operation-2xx-response', '#/paths/~1v1~1sandboxes~1{sandbox}~1terminal/get/responses'],
    ]);
  });

  it('the linter finds what is wrong, were there anything', async () => {
    const source = text.replace('"operationId":"WhoAmI"', '"operationId":"GetSandbox"');
    const problems = await lintFromString({
      source,
      config: await createConfig({ extends: ['recommended'] }),
    });
    expect(problems.map(({ ruleId }) => ruleId)).toContain('operation-operationId-unique');
  });

  it('[WIRE-HTTP-03] describes every tool, the byte routes and every failure', () => {
    const { paths } = JSON.parse(text);
    for (const { name } of tools) {
      const { post } = paths[`/v1/tools/${name}`];
      const statuses = new Set(Object.values(errorTable).map(({ status }) => String(status)));
      expect(new Set(Object.keys(post.responses))).toEqual(new Set(['200', ...statuses]));
    }
    expect(Object.keys(paths['/v1/sandboxes/{sandbox}/files'])).toEqual(
      expect.arrayContaining(['get', 'put']),
    );
    expect(paths['/v1/tools/Sandbox.CreateSandbox'].post.parameters).toMatchObject([
      { name: 'Idempotency-Key' },
      { name: 'output' },
      { name: 'Sandhaven-Team' },
    ]);
  });

  it('resolves every reference', () => {
    const description = JSON.parse(text);
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce((node, key) => node?.[key], description);
      expect(target, pointer).toBeDefined();
    }
  });
});
