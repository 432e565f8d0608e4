/**
 * Runs the front of a MongoDB-compatible server: speaks its wire protocol to clients and SQL to PostgreSQL with the
 * documentdb extension. Prints `ready` on standard output once it listens; shuts down in order on SIGTERM.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Cursors } from './cursors.ts';
import { Database } from './database.ts';
import { GatewayServer } from './server.ts';
import { applyUsers } from './users.ts';

const { values } = parseArgs({
  options: {
    listen: { type: 'string', default: '127.0.0.1:27017' },
    // A folder with PostgreSQL's socket, or a host.
    'pg-host': { type: 'string', default: '/run/postgresql' },
    'pg-port': { type: 'string', default: '5432' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    'tls-required': { type: 'boolean', default: false },
  },
});

const database = new Database({ host: values['pg-host'], port: Number(values['pg-port']) });
const cursors = new Cursors();
const without = await applyUsers(database, process.env);
if (without.length > 0) console.error(`no password was given for ${without.join(' and ')}`);

const { 'tls-cert': cert, 'tls-key': key, 'tls-required': isRequired } = values;
const tls = cert && key ? { cert: readFileSync(cert), key: readFileSync(key), isRequired } : null;
if (isRequired && !tls) throw new Error('--tls-required needs --tls-cert and --tls-key');
const server = new GatewayServer({ database, cursors }, tls);
const [host = '', port = ''] = values.listen.split(/:(?=\d+$)/);
console.log(`ready on ${host}:${await server.listen(host, Number(port))}`);

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (isStopping) return;
    isStopping = true;
    await server.close();
    cursors.closeAll();
    await database.close();
  });
}
