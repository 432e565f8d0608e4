/** Parameters that name a session and its command, and the view of a command. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { asPrinted, type Printed, printedText } from '../base/printed.ts';
import { integerWithDefault } from '../parameters/scalars.ts';

function id() {
  return z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9_-]{1,${limits.session.idChars}}$`),
      `must be 1 to ${limits.session.idChars} of letters, digits, _ and -`,
    );
}

export const newSessionId = id().optional().describe('Name of your choice (default: generated).');
export const sessionId = id().describe('From CreateSession.');
export const commandId = id().describe('From RunSessionCommand.');

export function waitSeconds(about: string) {
  return integerWithDefault(about, limits.session.followSeconds);
}

export const sessionStatus = z.literal('active');
export const commandStatus = z.enum(['queued', 'running', 'completed']);

/** Present once the command has ended. */
export const optionalExitCode = z.int().optional();

export function exitCodeOf(exitCode: number | null): { exit_code?: number } {
  return exitCode === null ? {} : { exit_code: exitCode };
}

interface CommandView extends Printed {
  status: string;
  command_id: string;
  exit_code?: number | undefined;
  truncated?: boolean | undefined;
  next_offset?: number | null | undefined;
}

/** Adds the status where it is not plain success. */
export function commandPrinted({ status, command_id, exit_code, output }: CommandView): string {
  if (exit_code === 0) return asPrinted(output, null);
  return asPrinted(output, exit_code === undefined ? `${command_id} is ${status}` : `exit code ${exit_code}`);
}

export function commandText(view: CommandView): string {
  const { status, command_id, exit_code, truncated = false, next_offset } = view;
  const stand = [
    `${command_id} is ${status}`,
    ...(exit_code === undefined ? [] : [`exit code ${exit_code}`]),
    ...(truncated ? ['truncated: the middle is left out'] : []),
    ...(next_offset == null ? [] : [`next_offset ${next_offset}`]),
  ];
  return printedText(view, stand);
}
