/** A program of the tests that is killed at some moment, and what it had printed by then. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';

/**
 * The lines that it printed wholly before it was killed.
 * @param afterMs From its first line on.
 */
export async function linesUntilKilled(
  file: string,
  args: readonly string[],
  afterMs: number,
): Promise<{ lines: string[]; killedAt: number }> {
  const program = spawn(process.execPath, [file, ...args]);
  onTestFinished(() => void program.kill('SIGKILL'));
  let output = '';
  let problems = '';
  program.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  program.stderr.on('data', (chunk: Buffer) => {
    problems += chunk;
  });
  const closed = once(program, 'close');
  await Promise.race([once(program.stdout, 'data'), closed]);
  await delay(afterMs);
  const killedAt = Date.now();
  program.kill('SIGKILL');
  const [, signal] = await closed;
  expect({ signal, problems }).toEqual({ signal: 'SIGKILL', problems: '' });
  return { lines: output.split('\n').slice(0, -1), killedAt };
}
