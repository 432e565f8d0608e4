/** Secret options, which come by environment alone. */
import { invalidArgument } from '../../model/errors.ts';
import { providerNames, secretVariableOf } from '../../model/provider.ts';

const secretVariables = [
  'SANDBOX_API_KEY',
  'DOCUMENTDB_CONNECTION_STRING',
  ...providerNames.map(secretVariableOf),
  'PGPASSWORD',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

/** Of the service manager: a program that the service starts must not speak for it. */
const managerVariables = [
  ...['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'],
  ...['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'],
];

/**
 * Returns the environment that this process was given, and takes the secrets, and the way to the service manager, out of `env`, which child processes inherit.
 * The allocator that bin/sandhaven chose goes too: only the service uses it.
 */
export function takeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const given = { ...env };
  for (const name of [...secretVariables, ...managerVariables]) delete env[name];
  if (env['LD_PRELOAD']?.endsWith('/libjemalloc.so.2')) delete env['LD_PRELOAD'];
  return given;
}

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
