/** Serves a folder as a registry of npm packages, on a free port that it prints. Arguments: Verdaccio's folder, the storage. */
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const [installed = '', storage = ''] = process.argv.slice(2);
const { runServer } = createRequire(join(installed, 'package.json'))('verdaccio') as {
  runServer(config: object): Promise<Server>;
};
const server = await runServer({
  storage,
  self_path: storage,
  // Without another registry behind it: the packages have to come without dependencies.
  uplinks: {},
  packages: { '@sandhaven/*': { access: '$all', publish: '$all' } },
  web: { enable: false },
  log: { type: 'stdout', level: 'error' },
});
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
