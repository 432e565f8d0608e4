/** How found documents come back, or go into a sandbox: the same for finds and aggregations. */
import type { z } from 'zod';
import type { QueryResult } from '../../control/ports.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import { present } from '../present.ts';
import type { CallContext } from '../tool.ts';
import type { documentsOutput } from './parameters.ts';

type Output = z.output<typeof documentsOutput>;

interface Asked {
  limit?: number | undefined;
  max_bytes: number;
  save_to_sandbox?: string | undefined;
  save_to_path?: string | undefined;
}

interface Target {
  sandbox: string;
  path: string;
}

interface Saved {
  count: number;
  bytes: number;
  documents: string[];
  notes: string[];
}

type Saving = ReturnType<typeof savingOptions>;

/** The two ways of one query. */
interface Ways<Request> {
  run(
    caller: Caller,
    request: Request & { limit: number },
    maxBytes: number,
    options: { signal: AbortSignal },
  ): Promise<QueryResult>;
  /** Without a limit all of it. */
  save(
    caller: Caller,
    request: Request & { limit?: number },
    target: Target,
    options: Saving,
  ): Promise<Saved>;
}

export async function answer<Request extends object>(
  asked: Asked,
  request: Request,
  context: CallContext,
  { run, save }: Ways<Request>,
): Promise<Output> {
  const { caller, signal } = context;
  const { limit, max_bytes } = asked;
  const target = targetOf(asked);
  if (target) {
    const all = { ...request, ...present({ limit }) };
    return toSavedView(target, await save(caller, all, target, savingOptions(context)));
  }
  const bounded = { ...request, limit: limit ?? limits.documents.limit.default };
  return toResultView(await run(caller, bounded, max_bytes, { signal }));
}

export function resultText({ result, returned, has_more, saved, notes = [] }: Output): string {
  const noted = notes.map((note) => `Note: ${note}`);
  const documents = result.join('\n');
  if (saved) {
    const { count, size_bytes, path, sandbox } = saved;
    const first = `${count} documents (${size_bytes} bytes) were saved in ${path} of sandbox '${sandbox}'. The first:`;
    return [first, documents, ...noted].join('\n');
  }
  const more = has_more ? ', and there are more' : '';
  return [`${returned} document${returned === 1 ? '' : 's'}${more}.`, ...noted, documents].join('\n');
}

function targetOf({ save_to_sandbox: sandbox, save_to_path: path }: Asked): Target | null {
  return sandbox === undefined || path === undefined ? null : { sandbox, path };
}

function toResultView({ documents, hasMore, next, notes }: QueryResult) {
  return {
    result: documents,
    returned: documents.length,
    has_more: hasMore,
    ...(next ? { next: 'filter' in next ? { filter_dict: next.filter } : next } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

function toSavedView({ sandbox, path }: Target, { count, bytes, documents, notes }: Saved) {
  return {
    result: documents,
    returned: documents.length,
    has_more: count > documents.length,
    saved: { sandbox, path, count, size_bytes: bytes },
    ...(notes.length > 0 ? { notes } : {}),
  };
}

const PROGRESS_BYTES = 4 * 1024 * 1024;

function savingOptions({ signal, progress }: CallContext) {
  let told = 0;
  return {
    signal,
    onSaved(count: number, bytes: number) {
      if (bytes < told + PROGRESS_BYTES) return;
      told = bytes;
      progress({ message: `${count} documents saved`, done: count });
    },
  };
}
