/** A connection that is broken off: what the far end sees, with TLS and without. */
import { once } from 'node:events';
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { breakOff } from '../../../src/surfaces/streams.ts';
import { type MadeCertificate, makeCertificate } from '../../support/certificates.ts';

let certificate: MadeCertificate;
beforeAll(() => {
  certificate = makeCertificate(['IP:127.0.0.1']);
});
afterAll(() => certificate?.remove());

describe.each(['plain', 'TLS'])('%s', (kind) => {
  it('is reset', async () => {
    const { near, far, server } = await pair(kind);
    const seen = once(far, 'error');
    breakOff(near);
    expect((await seen)[0]).toMatchObject({ code: 'ECONNRESET' });
    await over(server);
  });

  it('is let go of, also while its end is on its way', async () => {
    const { near, far, server } = await pair(kind);
    const failures: Error[] = [];
    near.on('error', (error) => failures.push(error));
    far.on('error', () => {});
    near.end('last');
    breakOff(near);
    far.resume();
    await once(near, 'close');
    far.destroy();
    // It waits for connections that nobody closed.
    await over(server);
    expect(failures).toEqual([]);
  });
});

async function pair(kind: string): Promise<{ near: Socket; far: Socket; server: Server }> {
  const secure = kind === 'TLS';
  const server = secure
    ? createTlsServer({ cert: certificate.pem(), key: certificate.key(), allowHalfOpen: true })
    : createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const transport = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  const far = secure ? connect({ socket: transport, ca: certificate.pem(), host: '127.0.0.1' }) : transport;
  const [near] = (await once(server, secure ? 'secureConnection' : 'connection')) as [Socket];
  far.write('x');
  await once(near, 'data');
  return { near, far, server };
}

function over(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
