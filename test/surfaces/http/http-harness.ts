/** A real HTTP server on loopback over fake services, and short ways to talk to it. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer, type HttpServerDependencies } from '../../../src/surfaces/http/server.ts';
import type { FakePeopleOptions } from '../fakes/fake-people.ts';
import { API_KEY, createFakeServices, type FakeServices } from '../fakes/fake-services.ts';

export interface LogLine {
  level: 'info' | 'warn' | 'error';
  message: string;
  context: Record<string, unknown>;
}

export interface Harness extends FakeServices {
  server: Server;
  url: string;
  port: number;
  log: LogLine[];
  /** POST /v1/tools/{name}, with the key. */
  call(name: string, parameters: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Any request, with the key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Bytes as they are; resolves with all that comes back until the connection ends. */
  raw(request: string): Promise<string>;
  /** As the service does at its end. */
  stop(): Promise<void>;
  /** At once. */
  close(): Promise<void>;
}

export async function startHttp(
  parts: Partial<HttpServerDependencies> = {},
  people: FakePeopleOptions = {},
): Promise<Harness> {
  const fake = createFakeServices(people);
  const log: LogLine[] = [];
  const write =
    (level: LogLine['level']) =>
    (message: string, context: Record<string, unknown> = {}) => {
      log.push({ level, message, context });
    };
  const app = createHttpServer({
    services: fake.services,
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    allowedHosts: ['127.0.0.1', 'localhost'],
    version: '1.2.3',
    ready: () => true,
    ...parts,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const withKey = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${API_KEY}`, ...init.headers } });
  return {
    ...fake,
    server: app.server,
    url,
    port,
    log,
    fetch: withKey,
    call: (name, parameters, headers = {}) =>
      withKey(`/v1/tools/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(parameters),
      }),
    async raw(request) {
      const socket = connect(port, '127.0.0.1');
      socket.write(request);
      return text(socket);
    },
    async stop() {
      await app.close();
    },
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
