/** `--parameters FILE`: parameters that appear in no process list. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { usageError } from './flags.ts';
import type { CliIo } from './io.ts';

/**
 * Reads a file, or (`-`) standard input; empty without a source. Errors never contain its contents, which may be
 * secret.
 */
export async function readParameters(
  source: string | undefined,
  io: Pick<CliIo, 'stdin'>,
): Promise<Record<string, unknown>> {
  if (source === undefined) return {};
  const unreadable = (why: string) =>
    usageError(`--parameters: ${why}`, 'Give a file with a JSON object, or -.');
  const content = await (source === '-' ? text(io.stdin) : readFile(source, 'utf8')).catch(() => {
    throw unreadable('the file cannot be read.');
  });
  try {
    const parsed: unknown = JSON.parse(content);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    throw unreadable('the contents are not JSON.');
  }
  throw unreadable('the contents are no JSON object.');
}
