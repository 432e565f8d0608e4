/** The public suites of Daytona's clients, unmodified, against a real service: no test fails that expected.md has not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../../support/service.ts';
import { compare, expectedOf } from './expected.ts';
import { lendRepository } from './github.ts';
import { fetchSuites, runPython, runTypeScript } from './run.ts';

const LIMIT_MS = 1_200_000;
const document = readFileSync(join(import.meta.dirname, '../expected.md'), 'utf8');
const missing = fetchSuites();

let service: Service;
let lent: Awaited<ReturnType<typeof lendRepository>> | undefined;

beforeAll(async () => {
  if (missing !== null) return;
  service = await startService({ flags: ['--compat', 'daytona'] });
  lent = await lendRepository(service);
});

afterAll(async () => {
  lent?.close();
  await service?.stop();
});

describe('the public suite', () => {
  it.for([
    ['Daytona, TypeScript', runTypeScript],
    ['Daytona, Python', runPython],
  ] as const)(
    'passes as far as expected.md says: %s',
    { timeout: LIMIT_MS },
    async ([suite, run], { skip }) => {
      if (missing !== null) skip(missing);
      const outcomes = await run((lent as NonNullable<typeof lent>).lender);
      const { worse, better } = compare(expectedOf(document, suite), outcomes);
      const passed = Object.values(outcomes).filter((outcome) => outcome === 'passes').length;
      console.info(`${suite}: ${passed} of ${Object.keys(outcomes).length} pass`);
      if (better.length > 0) console.info(`pass now, and can leave expected.md: ${better.join(', ')}`);
      expect(worse).toEqual({});
    },
  );
});
