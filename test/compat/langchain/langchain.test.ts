/** LangChain's standard tests of sandboxes, unmodified, through its backend for Daytona. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../../support/service.ts';
import { pythonOf } from '../clients/installed.ts';
import { clientEnvironment } from '../daytona/programs.ts';

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--compat', 'daytona'] });
});

afterAll(() => service?.stop());

it('all pass', async () => {
  const file = join(import.meta.dirname, 'test_sandbox.py');
  const options = ['-q', '-p', 'no:cacheprovider', '--asyncio-mode=auto', file];
  const { stdout } = await promisify(execFile)(
    pythonOf('langchain-daytona-0.0.7'),
    ['-B', '-m', 'pytest', ...options],
    { env: clientEnvironment(service), maxBuffer: 1 << 24 },
  ).catch((error: { stdout: string }) => error);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^86 passed(, \d+ warnings?)? in /);
}, 300_000);
