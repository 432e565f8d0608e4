/** The HTTP surface with MCP, over services in memory. */

import type { HttpServerDependencies } from '../../../../src/surfaces/http/server.ts';
import { createMcpEndpoint } from '../../../../src/surfaces/mcp/endpoint.ts';
import { createFakeServices } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';
import { closeClients } from './app.ts';

const HOSTS = ['127.0.0.1', 'localhost', 'sandhaven.localhost', '::1'];

/** @param services Of another replica, to be one beside it. */
export async function startOAuth(
  parts: Partial<HttpServerDependencies> = {},
  { services } = createFakeServices() as Pick<Harness, 'services'>,
): Promise<Harness> {
  const silent = { info() {}, warn() {}, error() {} };
  const mcp = createMcpEndpoint({ services, log: silent, version: '1.2.3' });
  const http = await startHttp({ services, mcp, allowedHosts: HOSTS, ...parts });
  const close = async () => {
    await closeClients();
    await mcp.close();
    await http.close();
  };
  return { ...http, services, close };
}

/** Address of the page for people on the machine itself. */
export function peopleAt({ port }: Pick<Harness, 'port'>): string {
  return `http://sandhaven.localhost:${port}`;
}
