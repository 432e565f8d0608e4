/** The history of a sandbox's use, as callers see it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;

beforeEach(async () => {
  http = await startHttp();
});

afterEach(() => http.close());

it('is an answer of the action', async () => {
  const response = await fetch(`${http.url}/v1/admin/GetUsageHistory`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sandbox: 'box' }),
  });
  expect(await response.json()).toEqual({
    sandbox: 'box',
    step_seconds: 10,
    samples: [{ at: '1970-01-01T00:00:00.000Z', cores: 1.235, memory_bytes: 5_242_880, disk_bytes: null }],
    out_of_memory: [{ at: '1970-01-01T00:00:05.000Z', killed: 1, process: 'python3' }],
  });
});

it('is a table on the command line, with what was killed', async () => {
  const { code, stdout } = await cliFor(http.url)(['usage', 'history', 'box']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/00:00:00 +1\.235 +5 .*out of memory: python3 was killed/);
});
