/** A service that is out of file descriptors answers with errors of the contract, and goes on when it has some again. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a program that cannot be started is an error of its caller, and never ends the process', () => {
  const script = join(import.meta.dirname, 'out-of-files.ts');
  const args = ['--nofile=64:64', process.execPath, '--disable-warning=ExperimentalWarning', script];
  const said = JSON.parse(execFileSync('prlimit', args, { encoding: 'utf8', timeout: 20_000 }));
  expect(said).toEqual({
    full: 'EMFILE',
    runLauncher: expect.objectContaining({
      name: 'HelperFailure',
      message: expect.stringContaining('EMFILE'),
    }),
    runCommand: expect.objectContaining({ name: 'SandhavenError', code: 'unavailable' }),
    tryProgram: { result: null },
    buildDocumentDbImage: expect.objectContaining({ name: 'SandhavenError', code: 'failed_precondition' }),
    afterwards: 'fine\n',
  });
});
