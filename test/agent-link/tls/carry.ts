/** Channels of a fake agent over TLS on the loopback, with the certificates that real ones have. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import { type CertifiedKey, certifySandbox } from '../../../src/agent-link/authority.ts';
import { createConnector } from '../../../src/agent-link/connector.ts';
import { type Carry, SANDBOX } from '../wire/fake-agent.ts';
import { newInstallation } from './installation.ts';

export interface TlsCarry extends AsyncDisposable {
  carry: Carry;
}

const GENERATION = 7;

export async function carryOverTls(): Promise<TlsCarry> {
  const { authority, service } = newInstallation();
  const own = certifySandbox(authority, SANDBOX, GENERATION, Date.now());
  const server = await startTlsServer({ ...own, ca: authority.certificate });
  const { port } = server.address() as AddressInfo;
  const connector = createConnector(authority.certificate, service);
  return {
    async carry(agent) {
      server.once('secureConnection', (channel: Duplex) => agent(channel));
      return connector.open({ sandboxId: SANDBOX, generation: GENERATION, host: '127.0.0.1', port });
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

/** As an agent listens: TLS 1.3, with clients' certificates demanded. */
export async function startTlsServer({
  certificate,
  key,
  port = 0,
  ...options
}: TlsOptions & CertifiedKey & { port?: number }): Promise<Server> {
  const server = createServer({
    ...{ cert: certificate, key, minVersion: 'TLSv1.3', requestCert: true, allowHalfOpen: true },
    ...options,
  });
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
