/** Finds the repository of a call without a path: the only one beneath the sandbox root. */
import { posix } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AgentLink } from '../ports/index.ts';
import { named } from './faults.ts';

/** Returns true for an error that reports a missing repository at the folder. */
export function saysNoRepository(error: unknown): error is SandhavenError {
  return (
    error instanceof SandhavenError &&
    error.code === 'failed_precondition' &&
    error.fields.parameter === 'path'
  );
}

/**
 * Returns the folder of the only repository beneath the sandbox root, relative to it.
 * Rejects with `refusal` when there is none, and with an error that names them when there are several.
 */
export async function onlyRepository(
  agent: Pick<AgentLink, 'find'>,
  sandboxId: string,
  refusal: SandhavenError,
  signal?: AbortSignal,
): Promise<string> {
  const query = { path: '.', pattern: '.git', maxItems: limits.maxItems.max, offset: 0 };
  const { items } = await agent.find(sandboxId, query, signal);
  const folders = outermost(items.map((path) => posix.dirname(path)));
  const [only] = folders;
  if (only === undefined) throw refusal;
  if (folders.length === 1) return only;
  throw new SandhavenError(
    'failed_precondition',
    `There is no Git repository at /workspace, and several beneath it: ${named(folders)}.`,
    { parameter: 'path', hint: 'Give one of them as path.' },
  );
}

/** Drops submodules and vendored repositories, which lie inside others. */
function outermost(folders: string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
}
