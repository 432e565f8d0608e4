/** Derives write access of the credentials from the server's report. The guard does not rely on it. */

import { limits } from '../../model/limits.ts';
import type { Connection } from './connection.ts';

const writingActions = new Set([
  'anyAction',
  'internal',
  'insert',
  'update',
  'remove',
  'createCollection',
  'createIndex',
  'dropCollection',
  'dropDatabase',
  'dropIndex',
  'renameCollectionSameDB',
  'collMod',
  'convertToCapped',
  'bypassDocumentValidation',
  'createUser',
  'createRole',
  'grantRole',
  'shutdown',
]);

const readingRoles = /^(?:read|readAnyDatabase|clusterMonitor)$/;
const writingRoles =
  /^(?:readWrite|readWriteAnyDatabase|dbAdmin|dbAdminAnyDatabase|dbOwner|userAdmin|userAdminAnyDatabase|clusterAdmin|clusterManager|hostManager|restore|root|__system)$/;

const NOT_TOLD = new Set([13, 59, 115]);

export async function couldWrite(connection: Connection, signal?: AbortSignal): Promise<boolean | null> {
  try {
    const status = await connection.ask(
      async (client, ended) => {
        const options = { signal: ended, readPreference: client.readPreference };
        return await client.db('admin').command({ connectionStatus: 1, showPrivileges: true }, options);
      },
      { timeMs: limits.documents.queryTimeMs, signal },
    );
    return judge(status['authInfo']);
  } catch (error) {
    const code = connection.faults.codeOf(error);
    if (code !== null && NOT_TOLD.has(code)) return null;
    throw error;
  }
}

/** Returns null when neither privileges nor roles decide it. */
export function judge(authInfo: unknown): boolean | null {
  // A server without authentication lets everybody write.
  if (listIn(authInfo, 'authenticatedUsers').length === 0) return isObject(authInfo) ? true : null;
  const privileges = listIn(authInfo, 'authenticatedUserPrivileges');
  const actions = privileges.flatMap((privilege) => listIn(privilege, 'actions'));
  if (actions.some((action) => writingActions.has(String(action)))) return true;
  const roles = listIn(authInfo, 'authenticatedUserRoles').map((role) =>
    isObject(role) ? String(role['role']) : '',
  );
  if (roles.some((role) => writingRoles.test(role))) return true;
  const isKnown = actions.length > 0 || (roles.length > 0 && roles.every((role) => readingRoles.test(role)));
  return isKnown ? false : null;
}

function listIn(value: unknown, name: string): unknown[] {
  const list = isObject(value) ? value[name] : null;
  return Array.isArray(list) ? list : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
