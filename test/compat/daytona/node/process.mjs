/** Commands and code. */
import assert from 'node:assert/strict';
import { rejection, step } from './steps.mjs';

export const processSteps = [
  step('process: runs a command as the sandbox’s user, in its home', async ({ sandbox }) => {
    const { exitCode, result } = await sandbox.process.executeCommand('whoami; echo $HOME; echo $GIVEN');
    assert.equal(exitCode, 0);
    assert.equal(result.trim(), 'daytona\n/home/daytona\nfrom creation');
    const { result: folder } = await sandbox.process.executeCommand('pwd');
    assert.equal(folder.trim(), await sandbox.getWorkDir());
  }),
  step('process: takes a folder and an environment', async ({ sandbox }) => {
    const env = { ONE: 'it’s "one"', TWO: '$HOME `id`' };
    const { result } = await sandbox.process.executeCommand('pwd; echo "$ONE"; echo "$TWO"', '/tmp', env);
    assert.equal(result.trim(), `/tmp\n${env.ONE}\n${env.TWO}`);
  }),
  step('process: gives the exit status, and both streams', async ({ sandbox }) => {
    const { exitCode, result } = await sandbox.process.executeCommand('echo out; echo err >&2; exit 42');
    assert.equal(exitCode, 42);
    assert.match(result, /out/);
    assert.match(result, /err/);
  }),
  step('process: cuts nothing out of 2 MB', async ({ sandbox }) => {
    const { result } = await sandbox.process.executeCommand('seq 1 300000');
    const lines = result.trimEnd().split('\n');
    assert.equal(lines.length, 300_000);
    assert.equal(lines.at(-1), '300000');
  }),
  step('process: takes text of several lines', async ({ sandbox }) => {
    const { result } = await sandbox.process.executeCommand("cat <<'END'\nfirst ' line\nsecond \" line\nEND");
    assert.equal(result.trim(), 'first \' line\nsecond " line');
  }),
  step('process: starts what goes on by itself', async ({ sandbox }) => {
    await sandbox.process.executeCommand('(sleep 2; touch later) >/dev/null 2>&1 &');
    const { result } = await sandbox.process.executeCommand('ls later 2>/dev/null; sleep 3; ls later');
    assert.equal(result.trim(), 'later');
  }),
  step('process: ends a command that takes too long', async ({ sdk, sandbox }) => {
    const begun = Date.now();
    const error = await rejection(sandbox.process.executeCommand('sleep 30', undefined, undefined, 1));
    assert.ok(Date.now() - begun < 15_000);
    assert.ok(
      error instanceof sdk.DaytonaTimeoutError || error.statusCode === 408,
      `${error.name}: ${error}`,
    );
    assert.match(error.message, /time/i);
  }),
  step('code: runs Python, with arguments and an environment', async ({ sandbox }) => {
    const { exitCode, result } = await sandbox.process.codeRun(
      'import os, sys\nx = 5\nprint(x + 10, sys.argv[1:], os.environ["GIVEN_HERE"], os.environ["GIVEN"])',
      { argv: ['one', 'two'], env: { GIVEN_HERE: 'to code' } },
    );
    assert.equal(exitCode, 0, result);
    assert.equal(result.trim(), "15 ['one', 'two'] to code from creation");
  }),
  step('code: fails with what the interpreter says', async ({ sandbox }) => {
    const { exitCode, result } = await sandbox.process.codeRun('print("before")\nraise ValueError("wrong")');
    assert.notEqual(exitCode, 0);
    assert.match(result, /before/);
    assert.match(result, /ValueError: wrong/);
  }),
];
