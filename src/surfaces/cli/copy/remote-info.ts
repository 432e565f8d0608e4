/** Asks about a path in a sandbox; a link is what it is, not what it leads to. */
import { getFileInfo } from '../../../catalog/files/get-file-info.ts';
import { createClient } from '../client.ts';
import type { Connection } from '../connection.ts';
import { errorOf } from './byte-request.ts';

export interface RemoteInfo {
  type: string;
  /** Permissions alone, without the special bits. */
  mode: number;
}

/** Returns null where there is nothing. */
export async function remoteInfo(
  connection: Connection,
  { sandbox, path }: { sandbox: string; path: string },
  signal: AbortSignal,
): Promise<RemoteInfo | null> {
  const { result, problem } = await createClient(connection)(getFileInfo, { sandbox, path }, { signal });
  if (!problem) {
    return { type: String(result['type']), mode: Number.parseInt(String(result['mode']), 8) & 0o777 };
  }
  if (problem.code === 'not_found' && problem.resource !== 'sandbox') return null;
  throw errorOf(problem);
}
