/** Names for completion: asked from the service within a second, and none when it does not answer. */
import { listSandboxes } from '../../../catalog/sandboxes/list-sandboxes.ts';
import { listSnapshots } from '../../../catalog/snapshots/list-snapshots.ts';
import type { Tool } from '../../../catalog/tool.ts';
import { limits } from '../../../model/limits.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { readContexts } from '../contexts/context-file.ts';
import type { CliIo } from '../io.ts';
import type { FindNames, Located } from './complete.ts';
import type { Named } from './shape.ts';

/** A person waits with a finger on the key. */
const ANSWER_MS = 1_000;

export function namesFor(io: Pick<CliIo, 'env' | 'signal'>): FindNames {
  return async (kind, located) => {
    try {
      const names = await namesOf(kind, located, io);
      // Anything else could control the terminal, or be a command.
      return names.filter((name) => /^[\x20-\x7e]+$/.test(name));
    } catch {
      return [];
    }
  };
}

async function namesOf(
  kind: Named,
  located: Located,
  io: Pick<CliIo, 'env' | 'signal'>,
): Promise<readonly string[]> {
  switch (kind) {
    case 'sandbox':
      return asked(listSandboxes, 'sandboxes', located, io);
    case 'snapshot':
      return asked(listSnapshots, 'snapshots', located, io);
    case 'context':
      return Object.keys((await readContexts(io)).contexts);
    default:
      return [];
  }
}

/** The newest page is enough for a choice. */
async function asked(
  tool: Tool,
  key: string,
  located: Located,
  io: Pick<CliIo, 'env' | 'signal'>,
): Promise<string[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ANSWER_MS)]);
  const values = new Map([...located].map(([flag, value]) => [flag, [value]]));
  const connection = await connectionOf({ values, positionals: [], rest: null, unknown: [] }, io);
  const { result } = await createClient(connection)(tool, { page_size: limits.pageSize.max }, { signal });
  return (result?.[key] as { name: string }[] | undefined)?.map(({ name }) => String(name)) ?? [];
}
