/**
 * Takes a secret parameter from a file, from standard input, or as it is typed at a terminal that does not show it; never
 * from an argument, which every user of the host could read.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { readHiddenLine } from './contexts/hidden-line.ts';
import { usageError } from './flags.ts';
import type { CliIo } from './io.ts';

/** Replaces the secret in the command's flags by a file name. */
export function flagsInput(input: z.ZodObject, secret: string | undefined): z.ZodObject {
  if (secret === undefined) return input;
  const file = z
    .string()
    .optional()
    .describe(`File that holds the ${secret}; standard input without it. Never an argument.`);
  const { [secret]: _, ...others } = input.shape;
  return z.strictObject({ ...others, [fileFlag(secret)]: file });
}

/** Throws `invalid_argument` before any other argument is read. */
export function refuseSecretFlag(argv: string[], secret: string | undefined): void {
  if (secret === undefined || !argv.some((word) => word === `--${secret}` || word.startsWith(`--${secret}=`)))
    return;
  throw usageError(
    `The ${secret} is not taken as an argument, where every user of this machine could see it.`,
    `Give it by standard input, or in a file with --${secret}-file.`,
  );
}

/** Replaces the file name by the secret. One trailing line break is not part of it. */
export async function readSecret(
  parameters: Record<string, unknown>,
  secret: string,
  io: CliIo,
): Promise<Record<string, unknown>> {
  const { [fileFlag(secret)]: file, ...others } = parameters;
  if (file === undefined && Object.hasOwn(others, secret)) return others;
  const typed = file === undefined || file === '-';
  if (typed && io.stdin.isTTY) return { ...others, [secret]: await readHiddenLine(`${secret}: `, io) };
  const content = await (typed ? text(io.stdin) : readFile(String(file), 'utf8')).catch(() => {
    throw usageError(`--${secret}-file: the file cannot be read.`, 'Give the path of a file.');
  });
  return { ...others, [secret]: content.replace(/\r?\n$/, '') };
}

function fileFlag(secret: string): string {
  return `${secret}_file`;
}
