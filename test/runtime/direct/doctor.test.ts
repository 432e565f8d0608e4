/** `sandhaven doctor` judges the runtime that the service would take. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { bin } from '../../support/service.ts';

it.each(['runc', 'auto'])('doctor follows the setting %s, as `up` does', (choice) => {
  const { stdout } = spawnSync(bin, ['doctor', '--json'], {
    encoding: 'utf8',
    env: { ...process.env, SANDHAVEN_MACHINE_RUNTIME: choice },
  });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] };
  const found = checks.find(({ name }) => name === 'machine runtime')?.found;
  expect(found).toMatch(
    choice === 'runc' ? /^runc: chosen by --machine-runtime$/ : /^(direct|runc): (?!chosen)/,
  );
});
