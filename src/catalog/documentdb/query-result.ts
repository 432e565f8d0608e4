/** Results of finds and aggregations: returned, or saved into a sandbox. */
import type { z } from 'zod';
import type { QueryResult } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import { type CallContext, withoutUndefined } from '../base/tool.ts';
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
  fields: string[];
  hasMore: boolean;
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
  /** Saves all documents when no limit is given. */
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
    const all = { ...request, ...withoutUndefined({ limit }) };
    return toSavedView(target, await save(caller, all, target, savingOptions(context)));
  }
  const bounded = { ...request, limit: limit ?? limits.documents.limit.default };
  return toResultView(await run(caller, bounded, max_bytes, { signal }));
}

/** Puts numbers, continuation and notes first: long texts are cut in the middle. */
export function resultText({ result, returned, has_more, next, saved, notes = [] }: Output): string {
  const noted = notes.map((note) => `Note: ${note}`);
  const more = has_more ? ' has_more: there are more.' : '';
  if (saved) return [savedText(saved) + more, ...noted].join('\n');
  const goOn = next ? ` next: ${JSON.stringify(next)}` : '';
  return [`${counted(returned)}.${more}${goOn}`, ...noted, ...result].join('\n');
}

function savedText({ count, size_bytes, path, sandbox, fields }: NonNullable<Output['saved']>): string {
  const first = `${counted(count)} (${size_bytes} bytes) saved in ${path} of sandbox '${sandbox}', a JSON line each.`;
  return fields.length > 0 ? `${first} Fields: ${fields.join(', ')}.` : first;
}

function counted(documents: number): string {
  return `${documents} document${documents === 1 ? '' : 's'}`;
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

/** Returns no document: a saved result is read in its sandbox, and stays out of the conversation. */
function toSavedView({ sandbox, path }: Target, { count, bytes, fields, hasMore, notes }: Saved) {
  return {
    result: [],
    returned: 0,
    has_more: hasMore,
    saved: { sandbox, path, count, size_bytes: bytes, fields },
    ...(notes.length > 0 ? { notes } : {}),
  };
}

const PROGRESS_BYTES = 4 * 1024 * 1024;

function savingOptions({ signal, progress }: CallContext) {
  let reported = 0;
  return {
    signal,
    onSaved(count: number, bytes: number) {
      if (bytes < reported + PROGRESS_BYTES) return;
      reported = bytes;
      progress({ message: `${count} documents saved`, done: count });
    },
  };
}
