/** How found documents come back, or go into a sandbox: the same for finds and aggregations. */
import type { QueryResult } from '../../control/ports.ts';
import type { CallContext } from '../tool.ts';

interface Asked {
  limit?: number | undefined;
  save_to_sandbox?: string | undefined;
  save_to_path?: string | undefined;
}

interface Target {
  sandbox: string;
  path: string;
}

export function targetOf({ save_to_sandbox: sandbox, save_to_path: path }: Asked): Target | null {
  return sandbox === undefined || path === undefined ? null : { sandbox, path };
}

export function toResultView({ documents, hasMore, next, notes }: QueryResult) {
  return {
    result: documents,
    returned: documents.length,
    has_more: hasMore,
    ...(next ? { next: 'filter' in next ? { filter_dict: next.filter } : next } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

interface Saved {
  count: number;
  bytes: number;
  documents: string[];
  notes: string[];
}

export function toSavedView({ sandbox, path }: Target, { count, bytes, documents, notes }: Saved) {
  return {
    result: documents,
    returned: documents.length,
    has_more: count > documents.length,
    saved: { sandbox, path, count, size_bytes: bytes },
    ...(notes.length > 0 ? { notes } : {}),
  };
}

const PROGRESS_BYTES = 4 * 1024 * 1024;

export function savingOptions({ signal, progress }: CallContext) {
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

export function resultText(result: ReturnType<typeof toResultView> | ReturnType<typeof toSavedView>): string {
  const notes = (result.notes ?? []).map((note) => `Note: ${note}`);
  const documents = result.result.join('\n');
  if ('saved' in result) {
    const { count, size_bytes, path, sandbox } = result.saved;
    const saved = `${count} documents (${size_bytes} bytes) were saved in ${path} of sandbox '${sandbox}'. The first:`;
    return [saved, documents, ...notes].join('\n');
  }
  const count = `${result.returned} document${result.returned === 1 ? '' : 's'}${result.has_more ? ', and there are more' : ''}.`;
  return [count, ...notes, documents].join('\n');
}
