/** A server that demands TLS, or is asked for it in vain. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type MadeCertificate, makeCertificate } from '../../support/certificates.ts';
import { connectionStringAt, connectTo, serverAddress, useTestDatabase } from '../server.ts';
import { startProxy } from './proxy.ts';

const database = useTestDatabase({ some: [{}] });
let certificate: MadeCertificate;

beforeAll(() => {
  certificate = makeCertificate(['IP:127.0.0.1']);
});

afterAll(() => certificate?.remove());

function startTlsProxy() {
  return startProxy({ key: certificate.key(), cert: certificate.pem() });
}

it('TLS that the string asks for and whose authority it names works', async () => {
  const { port } = await startTlsProxy();
  const documents = connectTo(connectionStringAt(port, `tls=true&tlsCAFile=${certificate.certFile}`));
  expect((await documents.databases()).map(({ name }) => name)).toContain(database.name);
});

it('TLS with a certificate that nobody trusts: unavailable, naming tlsCAFile', async () => {
  const { port } = await startTlsProxy();
  await expect(connectTo(connectionStringAt(port, 'tls=true')).databases()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('certificate'),
    fields: { hint: expect.stringContaining('tlsCAFile') },
  });
});

it('TLS that the server demands and the string does not: unavailable, naming tls=true', async () => {
  const { port } = await startTlsProxy();
  await expect(connectTo(connectionStringAt(port)).databases()).rejects.toMatchObject({
    code: 'unavailable',
    fields: { hint: expect.stringContaining('tls=true') },
  });
});

it('TLS that the string demands and the server does not speak: unavailable, naming tls=false', async () => {
  const { port } = serverAddress();
  await expect(connectTo(connectionStringAt(port, 'tls=true')).databases()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('TLS handshake'),
    fields: { hint: expect.stringContaining('tls=false') },
  });
});

it('TLS that the string demands of a server that resets the connection: unavailable, naming tls=false', async () => {
  const resetting = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  resetting.listen(0, '127.0.0.1');
  await once(resetting, 'listening');
  onTestFinished(() => void resetting.close());
  const { port } = resetting.address() as AddressInfo;
  await expect(connectTo(connectionStringAt(port, 'tls=true')).databases()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('TLS handshake'),
    fields: { hint: expect.stringContaining('tls=false') },
  });
});

it('TLS with an authority in a file that is not there: unavailable', async () => {
  const { port } = await startTlsProxy();
  const documents = connectTo(connectionStringAt(port, 'tls=true&tlsCAFile=/nonexistent/ca.pem'));
  await expect(documents.databases()).rejects.toMatchObject({
    code: 'unavailable',
    fields: { hint: expect.stringContaining('tlsCAFile') },
  });
});
