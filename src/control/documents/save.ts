/**
 * Saves a query's result into a new file of a sandbox, as JSON lines. The file gets its name once it is complete; an
 * earlier failure leaves nothing, and ends the query. No file is ever replaced: the agent enforces this when it gives
 * the name, and the check here only refuses early.
 */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { concerns, invalidArgument, SandhavenError } from '../../model/errors.ts';
import { WORKSPACE } from '../../model/sandbox.ts';
import type { Caller } from '../../model/user.ts';
import type { DocumentsQuery, ExportedQuery, QueryOptions } from '../ports/index.ts';
import type { FileService } from '../work/files.ts';

/** A file of a sandbox that takes a result. */
export interface SaveTarget {
  sandbox: string;
  path: string;
}

export interface SaveOptions extends QueryOptions {
  /** Receives the progress from time to time. */
  onSaved?: ((documents: number, bytes: number) => void) | undefined;
}

export interface SavedResult {
  count: number;
  bytes: number;
  /** Names of the fields of the first documents; a few. */
  fields: string[];
  /** true: more documents match than the limit lets through. */
  hasMore: boolean;
  notes: string[];
}

/** The user of a sandbox may have no right to write where results go. */
const AS_SERVICE = { user: null };

export type SandboxFiles = Pick<FileService, 'info' | 'write'>;

export async function saveResult(
  files: SandboxFiles,
  caller: Caller,
  query: DocumentsQuery,
  { sandbox, path }: SaveTarget,
  { signal, onSaved, ...options }: SaveOptions,
): Promise<SavedResult> {
  await checkTarget(files, caller, { sandbox, path });
  const stopped = new AbortController();
  const either = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal;
  let whole = (): ExportedQuery => {
    throw endedEarly();
  };
  // Runs the query once the sandbox is held, so that a long one does not end at a stopped sandbox.
  const lines = async function* () {
    const exported = await query.export({ ...options, signal: either });
    for await (const chunk of exported.lines) {
      yield chunk;
      onSaved?.(exported.count, exported.bytes);
    }
    whole = () => exported;
  };
  const content = Readable.from(lines(), { objectMode: false });
  // The stream may break after the sandbox's own failure, when it has no reader.
  content.on('error', () => {});
  try {
    const query = { ...AS_SERVICE, path, content, createParents: true, newBeneath: WORKSPACE };
    await files.write(caller, sandbox, query, either);
  } catch (error) {
    // A broken query is the error to report, not the end of the file.
    throw content.errored ?? asTargetFault(error);
  } finally {
    // A sandbox that reads no more must not keep the query running.
    stopped.abort();
    content.destroy();
  }
  const { count, bytes, fields, hasMore, notes } = whole();
  return { count, bytes, fields, hasMore, notes };
}

/** Checks the target before the query is sent: it must be a new file beneath the workspace. */
async function checkTarget(files: SandboxFiles, caller: Caller, { sandbox, path }: SaveTarget) {
  const place = posix.resolve(WORKSPACE, path);
  if (place !== WORKSPACE && !place.startsWith(`${WORKSPACE}/`)) {
    const hint = `Give a path beneath ${WORKSPACE}, such as 'result.jsonl'.`;
    throw asTargetFault(invalidArgument('path', `'${path}' is not beneath ${WORKSPACE}.`, hint));
  }
  const found = await files.info(caller, sandbox, { ...AS_SERVICE, path }).catch((error: unknown) => {
    if (concerns(error, 'file')) return null;
    throw asTargetFault(error);
  });
  if (found === null) return;
  if (found.type === 'dir') {
    const hint = 'Give the path of a file, for example of one in that folder.';
    throw asTargetFault(invalidArgument('path', `'${path}' is a folder.`, hint));
  }
  const hint = 'Give another path, or move or delete what is there first.';
  throw asTargetFault(
    new SandhavenError('already_exists', `'${path}' exists already.`, { parameter: 'path', hint }),
  );
}

/** The agent is untrusted: it may report success too early. */
function endedEarly(): SandhavenError {
  const hint = 'Try again; if it stays, stop and start the sandbox.';
  return new SandhavenError('unavailable', 'The sandbox ended the file before all of it was there.', {
    hint,
  });
}

/** Names of the parameters in the document tools. */
const parameters: Readonly<Record<string, string>> = { sandbox: 'save_to_sandbox', path: 'save_to_path' };

function asTargetFault(error: unknown): unknown {
  if (!(error instanceof SandhavenError)) return error;
  const { parameter } = error.fields;
  const own = parameter === undefined ? undefined : parameters[parameter];
  if (own === undefined) return error;
  return new SandhavenError(error.code, error.message, { ...error.fields, parameter: own }, error.cause);
}
