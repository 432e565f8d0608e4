/** Secrets, and the way to the service manager, in the environment of a command, which no program that it starts inherits. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bin } from '../support/service.ts';

/** Prints, at the end of the process, what a program would inherit that it starts. */
const probe = `process.on('exit', () => console.log('inherited:', JSON.stringify(process.env)))`;
const missing = join(tmpdir(), 'sandhaven-no-such-directory');
const to = 'postgres://a@127.0.0.1:1/a';

it.each([
  ['up', ['up', '--store', 'none']],
  ['up, its directory before the command', ['--data-dir', missing, 'up', '--store', 'none']],
  ['purge', ['purge', '--yes', '--data-dir', missing]],
  ['store copy', ['store', 'copy', '--to', to, '--data-dir', missing]],
])('%s hides them', (_, argv) => {
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
    SANDHAVEN_PROBE: 'stays',
  };
  const secrets = { PGPASSWORD: 'canary-1', AWS_SECRET_ACCESS_KEY: 'canary-2', SANDBOX_API_KEY: 'canary-3' };
  const others = {
    NOTIFY_SOCKET: '/canary-4',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=canary-5',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=canary-6',
  };
  const given = { ...env, ...secrets, ...others };
  const { stdout } = spawnSync(bin, argv, { env: given, encoding: 'utf8' });
  const inherited = stdout.split('inherited:')[1] ?? '';
  expect(inherited).toContain('"SANDHAVEN_PROBE":"stays"');
  expect(inherited).not.toContain('canary');
});
