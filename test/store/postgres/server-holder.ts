/** Starts a PostgreSQL server, prints its port, and stays until it is killed. */
import { startPostgres } from './server.ts';

const { port } = await startPostgres();
console.log(port);
