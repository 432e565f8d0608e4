/** The service's HTTP server with the built page, over services in memory. */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Services } from '../../../src/control/services.ts';
import { readPage } from '../../../src/surfaces/http/page.ts';
import { createHttpServer } from '../../../src/surfaces/http/server.ts';

const dist = join(import.meta.dirname, '..', '..', '..', 'web', 'dist');

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

export async function servePage(services: Services, port = 0): Promise<PageServer> {
  const page = await readPage(dist);
  if (!page) throw new Error('web/dist is missing: run `make web` first');
  const silent = () => {};
  const app = createHttpServer({
    ...{ services, page, version: '1.2.3', ready: () => true },
    ...{
      log: { info: silent, warn: silent, error: silent },
      allowedHosts: ['127.0.0.1', 'localhost', 'sandhaven.localhost'],
    },
  });
  await app.listen({ host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
