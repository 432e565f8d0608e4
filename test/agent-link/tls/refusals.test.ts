/** The agent's end, with a real agent: whoever is not its installation's service gets nothing. */
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certifySandbox, certifyService } from '../../../src/agent-link/authority.ts';
import { encodeJson, frameTypes } from '../../../src/agent-link/frames.ts';
import type { NetworkReach } from '../reach.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { INSTALLATION, newInstallation } from './installation.ts';

const YEAR_MS = 366 * 24 * 60 * 60 * 1000;
/** The agent's own, with what a loaded machine adds. */
const HANDSHAKE_MS = { least: 4_500, most: 7_000 };

const installation = newInstallation();
const { authority, service } = installation;

let sandbox: ScratchSandbox;
let host: string;
let port: number;
beforeAll(async () => {
  sandbox = await startScratchSandbox({ transport: 'tls', installation });
  ({ host, port } = (sandbox.reach as NetworkReach).agent);
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

const request = encodeJson(frameTypes.request, { v: 1, op: 'stat', path: '/' });

/** All that comes until the end, after sending a request; and the error that ended it. */
function answerTo(socket: Duplex, ready: string): Promise<{ bytes: number; error: string }> {
  return new Promise((resolve) => {
    let bytes = 0;
    let error = '';
    socket.once(ready, () => socket.write(request));
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    socket.on('error', (reason: NodeJS.ErrnoException) => (error = reason.code ?? reason.message));
    socket.on('close', () => resolve({ bytes, error }));
  });
}

function tlsAnswer(options: ConnectionOptions) {
  const all = { host, port, ca: authority.certificate, checkServerIdentity: () => undefined, ...options };
  return answerTo(connect(all), 'secureConnect');
}

const shown = ({ certificate, key }: { certificate: string; key: string }) => ({ cert: certificate, key });

describe('a client is refused', () => {
  const now = Date.now();
  const elsewhere = newInstallation();
  const alias = newInstallation('zzz999');
  it.each([
    ['without a certificate', {}, 'CERTIFICATE_REQUIRED'],
    ['of another authority of the same name', shown(elsewhere.service), 'DECRYPT_ERROR'],
    [
      'whose certificate has expired',
      shown(certifyService(authority, INSTALLATION, now - YEAR_MS)),
      'EXPIRED',
    ],
    [
      'whose certificate is of the future',
      shown(certifyService(authority, INSTALLATION, now + YEAR_MS)),
      'ALERT',
    ],
    ['with another name of that authority', shown(certifyService(authority, 'zzz999', now)), 'ALERT'],
    ['of another installation', shown(alias.service), 'UNKNOWN_CA'],
    [
      'with the certificate of a sandbox, even its own',
      shown(certifySandbox(authority, 'sb_0123456789abcdef', 7, now)),
      'ALERT',
    ],
    ['that speaks TLS 1.2', { ...shown(service), maxVersion: 'TLSv1.2' as const }, 'PROTOCOL_VERSION'],
  ])('%s', async (_, options, reason) => {
    const { bytes, error } = await tlsAnswer(options);
    expect(bytes).toBe(0);
    expect(error).toContain(reason);
  });

  it('that speaks no TLS, with nothing but an alert', async () => {
    const { bytes } = await answerTo(connectTcp(port, host), 'connect');
    expect(bytes).toBeLessThanOrEqual(7);
  });

  it('and the service is served', async () => {
    const { bytes } = await tlsAnswer(shown(service));
    expect(bytes).toBeGreaterThan(50);
  });
});

it('a connection that says nothing ends after the timeout of a handshake', async () => {
  const begun = performance.now();
  const silent = connectTcp(port, host).resume();
  await new Promise((resolve) => silent.on('error', resolve).on('close', resolve));
  const took = performance.now() - begun;
  expect(took).toBeGreaterThan(HANDSHAKE_MS.least);
  expect(took).toBeLessThan(HANDSHAKE_MS.most);
});
