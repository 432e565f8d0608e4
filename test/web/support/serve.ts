/** Serves the built page over services in memory, to look at: `node test/web/support/serve.ts 7430 40`. */

import { servePage } from './page-server.ts';
import { createWorld } from './world.ts';

const [port = '7430', count = '40'] = process.argv.slice(2);
const { services } = await createWorld(count === 'none' ? null : Number(count));
const { url } = await servePage(services, Number(port));
console.info(`${url} signs in with the key shv_test, or as a member with shv_member`);
