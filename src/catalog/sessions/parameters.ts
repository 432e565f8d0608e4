/** How tools name a session and a command of it, and how they describe one that has been run. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { integerWithDefault } from '../parameters/integer.ts';

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

/** As it came, and where it stands where that is not plain success. */
export function commandPrinted(result: {
  status: string;
  command_id: string;
  exit_code?: number | undefined;
  output: string;
}): string {
  const { status, command_id, exit_code, output } = result;
  if (exit_code === 0) return output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  const stand = exit_code === undefined ? `${command_id} is ${status}` : `exit code ${exit_code}`;
  return `${output}${gap}[${stand}]`;
}

/** What it has printed, and where it stands; both streams apart where they are known and both have something. */
export function commandText(result: {
  status: string;
  command_id: string;
  exit_code?: number | undefined;
  output: string;
  stdout?: string | undefined;
  stderr?: string | undefined;
  truncated?: boolean | undefined;
  next_offset?: number | null | undefined;
}): string {
  const { command_id, output, stdout = '', stderr = '' } = result;
  const apart =
    stdout !== '' && stderr !== '' ? ['stdout:', ...lines(stdout), 'stderr:', ...lines(stderr)] : [];
  const printed = output === '' ? ['(no output)'] : lines(output);
  return [...printed, ...apart, `[${command_id} is ${standOf(result).join(', ')}]`].join('\n');
}

function standOf({
  status,
  exit_code,
  stdout,
  stderr,
  truncated = false,
  next_offset,
}: Parameters<typeof commandText>[0]): string[] {
  return [
    status,
    ...(exit_code === undefined ? [] : [`exit code ${exit_code}`]),
    ...(stdout && stderr === '' ? ['all of it on stdout'] : []),
    ...(stdout === '' && stderr ? ['all of it on stderr'] : []),
    ...(truncated ? ['truncated: the middle is left out'] : []),
    ...(next_offset == null ? [] : [`next_offset ${next_offset}`]),
  ];
}

/** Without the newline that ends the last line; one that is missing is named. */
function lines(text: string): string[] {
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '[no newline at the end]'];
}
