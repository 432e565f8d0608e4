/** Options that come by environment alone, because they are secrets. */
import { invalidArgument } from '../../model/errors.ts';

/** Taken out of the environment once they are read, so that no child inherits them. */
export const secretVariables = [
  'SANDBOX_API_KEY',
  'DOCUMENTDB_CONNECTION_STRING',
  'SANDHAVEN_GITHUB_CLIENT_SECRET',
];

export interface DocumentDbOptions {
  /** null: there is none. */
  connectionString: string | null;
  orderOfUse: 'enforce' | 'advise';
}

/** Fails with `invalid_argument` naming the variable. */
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
