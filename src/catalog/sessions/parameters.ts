/** How tools name a session and a command of it, and how they describe one that has been run. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';

function id() {
  return z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9_-]{1,${limits.session.idChars}}$`),
      `must be 1 to ${limits.session.idChars} of letters, digits, _ and -`,
    );
}

export const newSessionId = id().optional().describe('Name of your choice (default: a generated one).');
export const sessionId = id().describe('From CreateSession.');
export const commandId = id().describe('From RunSessionCommand.');

export const sessionStatus = z.literal('active');
export const commandStatus = z.enum(['queued', 'running', 'completed']);

/** Present once the command has ended. */
export const optionalExitCode = z.int().optional();

export function exitCodeOf(exitCode: number | null): { exit_code?: number } {
  return exitCode === null ? {} : { exit_code: exitCode };
}

/** What it has printed, and where it stands when that is not plain success. */
export function commandText(result: {
  status: string;
  command_id: string;
  exit_code?: number | undefined;
  output: string;
}): string {
  const { status, command_id, exit_code, output } = result;
  if (exit_code === 0) return output === '' ? '(no output)' : output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  const state = exit_code === undefined ? `${command_id} is ${status}` : `exit code ${exit_code}`;
  return `${output}${gap}[${state}]`;
}
