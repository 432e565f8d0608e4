/** Secret options, which come by environment alone. */
import { invalidArgument } from '../../model/errors.ts';

/** Removed from the environment after reading, so that no child process inherits them. */
export const secretVariables = [
  'SANDBOX_API_KEY',
  'DOCUMENTDB_CONNECTION_STRING',
  'SANDHAVEN_GITHUB_CLIENT_SECRET',
  'PGPASSWORD',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
];

export interface DocumentDbOptions {
  /** null without a database. */
  connectionString: string | null;
  orderOfUse: 'enforce' | 'advise';
}

/** Rejects an invalid value with `invalid_argument` that names the variable. */
export function parseDocumentDbOptions(env: NodeJS.ProcessEnv): DocumentDbOptions {
  const orderOfUse = env['DOCUMENTDB_ORDER_OF_USE'] || 'enforce';
  if (orderOfUse !== 'enforce' && orderOfUse !== 'advise') {
    throw invalidArgument(
      'DOCUMENTDB_ORDER_OF_USE',
      `DOCUMENTDB_ORDER_OF_USE must be enforce or advise, and '${orderOfUse}' was given.`,
    );
  }
  return { connectionString: env['DOCUMENTDB_CONNECTION_STRING'] || null, orderOfUse };
}
