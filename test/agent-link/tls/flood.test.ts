/** The agent's end, with a real agent: many who never show a certificate at once. */
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import { createConnector } from '../../../src/agent-link/connector.ts';
import { channelsTo, type NetworkReach } from '../reach.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { newInstallation } from './installation.ts';

const FLOOD = 2_000;

const installation = newInstallation();
const { authority, service } = installation;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox({ transport: 'tls', installation });
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

it('two thousand that never finish a handshake hold up neither the service nor grow the agent', async () => {
  const memory = async () => Number(/\d+/.exec((await sandbox.sh('grep VmRSS /proc/1/status')).stdout));
  const before = await memory();
  const { host, port } = (sandbox.reach as NetworkReach).agent;
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
