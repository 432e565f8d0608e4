/**
 * Runs MongoDB's own tool server, as it comes from npm: read-only, without telemetry, and with its limits raised so
 * that it may return the same answers as ours. Installed in a folder of its own, from a lock file of its own.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../base/command.ts';
import { home } from '../base/machine.ts';
import { type McpContender, overStdio } from './contender.ts';

const folder = join(home, 'bench/mongodb-mcp-server');
const program = join(folder, 'node_modules/mongodb-mcp-server/dist/esm/index.js');
const MAX_BYTES = 256 * 1024 * 1024;
/** The server distinguishes connections; this one comes from its environment. */
const connection = { connectionId: 'preconfigured' };

/** Does nothing when the installation matches the lock file. */
export async function installMongodbMcpServer(): Promise<void> {
  const [wanted, installed] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
      stat(join(folder, file)).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      ),
    ),
  );
  if (installed && wanted && installed >= wanted) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder], {
    discard: true,
  });
}

/** Its log and its exports go below `directory`. */
export async function startMongodbMcpServer(
  connectionString: string,
  directory: string,
): Promise<McpContender & { pid: number }> {
  const contender = await overStdio({
    command: process.execPath,
    args: [program, '--readOnly'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      MDB_MCP_CONNECTION_STRING: connectionString,
      MDB_MCP_TELEMETRY: 'disabled',
      MDB_MCP_MAX_DOCUMENTS_PER_QUERY: '100000',
      MDB_MCP_MAX_BYTES_PER_QUERY: String(MAX_BYTES),
      MDB_MCP_LOG_PATH: join(directory, 'log'),
      MDB_MCP_EXPORTS_PATH: join(directory, 'exports'),
    },
  });
  return {
    ...contender,
    ask: (tool, parameters) => contender.ask(tool, { ...connection, ...parameters }),
  };
}

/** Parameter by which each call raises its own limit, up to the server's. */
export const wholeAnswer = { responseBytesLimit: MAX_BYTES };
