/** The agent's end, with real agents: whoever is not its installation's service gets nothing, and holds nobody up. */
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import { certifySandbox, certifyService } from '../../../src/agent-link/authority.ts';
import { createConnector } from '../../../src/agent-link/connector.ts';
import { encodeJson, frameTypes } from '../../../src/agent-link/frames.ts';
import { channelsTo, type NetworkReach } from '../reach.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { INSTALLATION, newInstallation } from './installation.ts';

const YEAR_MS = 366 * 24 * 60 * 60 * 1000;
/** The agent's own, with what a loaded machine adds. */
const HANDSHAKE_MS = { least: 4_500, most: 7_000 };
const FLOOD = 2_000;

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

it('two thousand that never finish a handshake hold up neither the service nor grow the agent', async () => {
  const memory = async () => Number(/\d+/.exec((await sandbox.sh('grep VmRSS /proc/1/status')).stdout));
  const before = await memory();
  const flood = new Flood(host, port, await helloOfTls());
  try {
    await flood.begun;
    const link = createAgentLink({ openChannel: channelsTo(sandbox.reach) });
    const times: number[] = [];
    for (let round = 0; round < 20; round++) {
      // Each a handshake of its own, without the sessions of the one before.
      const { agent } = sandbox.reach as NetworkReach;
      const connector = createConnector(authority.certificate, service);
      const fresh = createAgentLink({ openChannel: () => connector.open(agent) });
      const begun = performance.now();
      await (round % 2 === 0 ? fresh : link).hello(sandbox.id, sandbox.generation);
      times.push(performance.now() - begun);
      await sleep(20);
    }
    expect(Math.max(...times)).toBeLessThan(1_000);
    expect(flood.reopened).toBeGreaterThan(FLOOD / 2);
    expect((await memory()) - before).toBeLessThan(32 * 1024);
  } finally {
    flood.end();
  }
  await sandbox.agent.hello(sandbox.id, sandbox.generation);
});

/** The first bytes of a client that speaks TLS: they cost the agent a signature. */
function helloOfTls(): Promise<Buffer> {
  return new Promise((resolve) => {
    const stream = new Duplex({ read() {}, write: (chunk: Buffer) => resolve(chunk) });
    connect({ socket: stream, minVersion: 'TLSv1.3' }).on('error', () => {});
  });
}

/** Connections from one address, of which each is opened again when the agent ends it. */
class Flood {
  readonly begun: Promise<unknown>;
  reopened = 0;
  readonly #sockets = new Set<Socket>();
  #over = false;

  constructor(host: string, port: number, hello: Buffer) {
    const first = [Buffer.alloc(0), Buffer.from('1603010200', 'hex'), hello];
    const open = (index: number): Promise<void> =>
      new Promise((resolve) => {
        const socket = connectTcp({ host, port, localAddress: '127.9.9.9' });
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.resume();
        socket.once('connect', () => {
          socket.write(first[index % first.length] ?? '');
          resolve();
        });
        socket.once('close', () => {
          resolve();
          this.#sockets.delete(socket);
          if (this.#over) return;
          this.reopened += 1;
          setTimeout(() => this.#over || void open(index), 20);
        });
      });
    this.begun = Promise.all(Array.from({ length: FLOOD }, (_, index) => open(index)));
  }

  end(): void {
    this.#over = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
