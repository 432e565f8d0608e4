/** The main thread's half alone: the address, and threads that fail. What SSH does is tested with real clients. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openSshGateway, type SshGateway } from '../../../src/gateways/ssh/gateway.ts';
import { skippableTime } from '../../support/skip-time.ts';

const CLOSE_GRACE_MS = 5_000;

const opened: SshGateway[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
});

const said: string[] = [];
const log = {
  info: (message: string) => void said.push(message),
  warn: () => {},
  error: (message: string) => void said.push(message),
};

async function open(thread: string, port = 0): Promise<SshGateway> {
  const gateway = await openSshGateway({
    listen: { host: '127.0.0.1', port },
    hostKey: '',
    thread: new URL(`data:text/javascript,${encodeURIComponent(thread)}`),
    visits: { enter: async () => null },
    log,
  });
  opened.push(gateway);
  return gateway;
}

function client({ address }: SshGateway): Socket {
  const socket = connect(address.port, address.host);
  socket.on('error', () => {});
  socket.resume();
  return socket;
}

/** Says that it began, and then does this with each connection's port. */
const threadThat = (does: string) => `
import { parentPort } from 'node:worker_threads';

parentPort.postMessage({ type: 'log', level: 'info', message: 'began', context: {} });
parentPort.on('message', (order) => {
  if (order.type === 'close') parentPort.postMessage({ type: 'closed' });
  else ((port) => { ${does} })(order.port);
});`;

describe('the SSH gateway', () => {
  it('[WIRE-UP-05] listens at once, returns its real port, and is refused a port that is taken', async () => {
    const { address } = await open(threadThat(''));
    expect(address).toEqual({ host: '127.0.0.1', port: expect.any(Number) });
    expect(address.port).toBeGreaterThan(0);
    await expect(open(threadThat(''), address.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('has a thread only from its first connection, and one for all', async () => {
    said.length = 0;
    const gateway = await open(threadThat('port.postMessage(null)'));
    expect(said).toEqual([]);
    await Promise.all([once(client(gateway), 'close'), once(client(gateway), 'close')]);
    expect(said).toEqual(['began']);
  });

  it('ends the connections when it loses its thread, and serves the next one with another', async () => {
    said.length = 0;
    const gateway = await open(threadThat('throw new Error("a defect")'));
    for (const lost of [1, 2]) {
      await once(client(gateway), 'close');
      // The client may learn of it before the gateway does; until then it would be given to the same thread.
      await expect
        .poll(() => said.filter((message) => message.includes('failed')), { timeout: 10_000 })
        .toHaveLength(lost);
    }
    expect(said.filter((message) => message === 'began')).toHaveLength(2);
  });

  it('ends its connections when it is closed, also when its thread does not answer', async () => {
    said.length = 0;
    const gateway = await open(threadThat('for (;;);'));
    const closed = once(client(gateway), 'close');
    await expect.poll(() => said).toEqual(['began']);
    const skip = skippableTime();
    const over = gateway.close();
    await skip(CLOSE_GRACE_MS);
    await over;
    await closed;
  });
});
