/** Services without a collector hold nothing of OpenTelemetry in memory. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** Prints the addresses of all modules that a process resolves. */
const probe = `
import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  const found = next(name, context);
  if (found.url.includes('opentelemetry') || found.url.includes('/src/tracing/')) console.log('loaded', found.url);
  return found;
} });
const { openTracing } = await import('${root}/src/app/engine/optional-parts.ts');
if (process.env.ENDPOINT === '') await import('${root}/src/app/up.ts');
const { parseTracingOptions } = await import('${root}/src/model/tracing-options.ts');
const log = { info() {}, warn() {}, error() {} };
const traces = await openTracing(parseTracingOptions(process.env.ENDPOINT, {}), log);
await traces?.close();
console.log('opened', traces !== null);
`;

async function loaded(endpoint: string): Promise<string> {
  const argv = ['--input-type=module', '--eval', probe];
  const { stdout } = await run(process.execPath, argv, {
    env: { ...process.env, ENDPOINT: endpoint },
    cwd: root,
  });
  return stdout;
}

it('the library is loaded with a collector, and not without', { timeout: 120_000 }, async () => {
  const without = await loaded('');
  expect(without).toContain('opened false');
  expect(without).not.toContain('loaded');
  const wanted = await loaded('http://127.0.0.1:1');
  expect(wanted).toContain('opened true');
  expect(wanted).toContain('@opentelemetry/sdk-trace');
});
