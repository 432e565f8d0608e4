/** The scratch sandbox has the loopback of this host, so the programs inside are servers of this process. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

let sandbox: ScratchSandbox;
const servers: Server[] = [];

beforeAll(async () => {
  sandbox = await startScratchSandbox();
}, 60_000);

afterAll(async () => {
  for (const server of servers) server.close();
  await sandbox?.[Symbol.asyncDispose]();
});

async function serve(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  servers.push(server);
  server.listen({ port: 0, host, ipv6Only: host.includes(':') });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const open = (port: number, signal?: AbortSignal) => sandbox.agent.connectPort(sandbox.id, port, signal);

/** Writes as much as asked for, as fast as it is taken, and gives its digest. */
async function pour(stream: Duplex, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  const block = randomBytes(1 << 18);
  for (let left = bytes; left > 0; left -= block.length) {
    const part = block.subarray(0, Math.min(left, block.length));
    part.writeUInt32LE(left >>> 0, 0);
    hash.update(part);
    if (!stream.write(Buffer.from(part))) await once(stream, 'drain');
  }
  stream.end();
  return hash.digest('hex');
}

async function countSlowly(stream: Duplex): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    await sleep(1);
  }
  return bytes;
}

async function drain(stream: Duplex): Promise<{ digest: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { digest: hash.digest('hex'), bytes };
}

describe('a connection to a port', () => {
  it('carries bytes both ways', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const stream = await open(port);
    stream.end('héllo');
    expect(await text(stream)).toBe('héllo');
  });

  it('leads to a host by address or by name, as a program inside would get there', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    await sandbox.sh('echo "127.0.0.1 Named.example" >> /etc/hosts');
    for (const host of ['127.0.0.1', 'localhost', 'any.localhost', 'named.EXAMPLE.']) {
      const stream = await sandbox.agent.connectPort(sandbox.id, port, undefined, host);
      stream.end(host);
      expect(await text(stream)).toBe(host);
    }
  });

  it.each(['', '.', 'a..b', 'x'.repeat(64), 'a.'.repeat(200), 'nul\0'])(
    'to %j leads nowhere',
    async (host) => {
      await expect(sandbox.agent.connectPort(sandbox.id, 80, undefined, host)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:not_found|failed_precondition)$/),
      });
    },
  );

  it('goes on after the end of what it sends', async () => {
    const port = await serve(async (socket) => {
      const came = await text(socket.setEncoding('utf8'));
      socket.end(`after the end: ${came}`);
    });
    const stream = await open(port);
    stream.end('question');
    expect(await text(stream)).toBe('after the end: question');
  });

  it('goes on after the end of what it gets', async () => {
    const came = Promise.withResolvers<string>();
    const port = await serve((socket) => {
      socket.end('bye');
      text(socket).then(came.resolve, came.reject);
    });
    const stream = await open(port);
    expect(await text(stream.iterator({ destroyOnReturn: false }))).toBe('bye');
    expect(stream.destroyed).toBe(false);
    stream.end('still here');
    expect(await came.promise).toBe('still here');
  });

  it('brings the last bytes inside, however slowly they are read there', async () => {
    for (let round = 0; round < 8; round += 1) {
      const came = Promise.withResolvers<number>();
      const port = await serve((socket) => {
        socket.end('bye');
        countSlowly(socket).then(came.resolve, came.reject);
      });
      const stream = await open(port);
      expect(await text(stream.iterator({ destroyOnReturn: false }))).toBe('bye');
      stream.end(Buffer.alloc(4_000_000));
      expect(await came.promise).toBe(4_000_000);
    }
  });

  it('carries 50 MB each way at once without a wrong byte', async () => {
    const bytes = 50_000_000;
    const inside = Promise.withResolvers<unknown>();
    const port = await serve((socket) => {
      Promise.all([pour(socket, bytes), drain(socket)]).then(inside.resolve, inside.reject);
    });
    const stream = await open(port);
    const outside = await Promise.all([pour(stream, bytes), drain(stream)]);
    const [sentInside, gotInside] = (await inside.promise) as [string, { digest: string; bytes: number }];
    expect(outside[1]).toEqual({ digest: sentInside, bytes });
    expect(gotInside).toEqual({ digest: outside[0], bytes });
  }, 120_000);

  it('takes no more than there is room for while nobody reads', async () => {
    let sent = 0;
    const port = await serve((socket) => {
      const block = Buffer.alloc(1 << 16);
      const more = () => {
        sent += block.length;
        socket.write(block, (error) => error ?? more());
      };
      more();
    });
    const stream = await open(port);
    let before = -1;
    while (sent !== before) {
      before = sent;
      await sleep(300);
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(64 << 20);
    const goesOn = new Promise<void>((resolve) => {
      let read = 0;
      stream.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > before + (1 << 20)) resolve();
      });
    });
    await goesOn;
    stream.destroy();
  }, 60_000);

  it('is refused where nothing listens', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(open(port)).rejects.toMatchObject({
      code: 'not_found',
      message: `Nothing listens on port ${port} inside the sandbox.`,
      fields: { resource: 'port', hint: expect.stringContaining('Sandbox.ListPorts') },
    });
  });

  it('reaches what listens on IPv6 alone, and what listens everywhere', async () => {
    for (const host of ['::1', '0.0.0.0']) {
      const port = await serve((socket) => socket.end('here'), host);
      expect(await text(await open(port))).toBe('here');
    }
  });

  it('breaks when it is reset inside, after what had come before', async () => {
    const port = await serve((socket) => {
      socket.write('half an ans');
      socket.once('data', () => socket.resetAndDestroy());
    });
    const stream = await open(port);
    const [first] = (await once(stream, 'data')) as [Buffer];
    expect(first.toString()).toBe('half an ans');
    stream.write('x');
    await expect(finished(stream)).rejects.toMatchObject({ message: expect.stringContaining('reset') });
  });

  it('gives the whole answer of a program that does not read all it is sent', async () => {
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.end('too much', () => socket.destroy());
      });
    });
    const stream = await open(port);
    const came: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => came.push(chunk));
    let over = false;
    const ended = new Promise((resolve) => stream.once('end', resolve).once('error', resolve)).then(() => {
      over = true;
    });
    const block = Buffer.alloc(1 << 18);
    for (let i = 0; i < 40 && !over; i++) {
      if (!stream.write(block)) await Promise.race([new Promise((go) => stream.once('drain', go)), ended]);
    }
    await ended;
    expect(Buffer.concat(came).toString()).toBe('too much');
    stream.destroy();
  });

  it('is reset inside when it is destroyed here', async () => {
    const outcome = Promise.withResolvers<string>();
    const port = await serve((socket) => {
      socket.write('x');
      socket.on('error', (error: NodeJS.ErrnoException) => outcome.resolve(String(error.code)));
      socket.on('end', () => outcome.resolve('end'));
      socket.resume();
    });
    const stream = await open(port);
    await once(stream, 'data');
    stream.destroy();
    expect(await outcome.promise).toBe('ECONNRESET');
  });

  it('ends with its signal, before and after it is open', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const reason = new Error('gone');
    await expect(open(port, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const stream = await open(port, controller.signal);
    const closed = expect(finished(stream)).rejects.toBe(reason);
    controller.abort(reason);
    await closed;
  });

  it('leaves room for other work when there are too many', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const outcomes = await Promise.allSettled(Array.from({ length: 330 }, () => open(port)));
    const streams = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ code: 'resource_exhausted' });
    expect((await sandbox.sh('echo fine')).stdout).toBe('fine\n');
    for (const stream of streams) stream.destroy();
    await expect
      .poll(() =>
        open(port).then(
          (again) => again.destroy(),
          () => null,
        ),
      )
      .not.toBeNull();
  }, 60_000);
});

describe('a listener inside', () => {
  const listen = (request: { port: number; everywhere?: boolean }, onConnection: (stream: Duplex) => void) =>
    sandbox.agent.listenPort(sandbox.id, request, onConnection);

  it('hands over what connects to it', async () => {
    const listener = await listen({ port: 0 }, (stream) => stream.pipe(stream));
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(async (word) => {
        const socket = connect(listener.port, '127.0.0.1');
        socket.end(word);
        return text(socket);
      }),
    );
    expect(answers).toEqual(['a', 'b', 'c']);
    listener.close();
    await listener.ended;
    await expect.poll(() => isOpen(listener.port)).toBe(false);
  });

  it('leaves the connections that were taken when it ends', async () => {
    const taken = Promise.withResolvers<Duplex>();
    const listener = await listen({ port: 0 }, taken.resolve);
    const socket = connect(listener.port, '127.0.0.1');
    const stream = await taken.promise;
    listener.close();
    await listener.ended;
    stream.end('on');
    expect(await text(socket)).toBe('on');
  });

  it('is refused where another listens', async () => {
    const port = await serve(() => {});
    await expect(listen({ port }, () => {})).rejects.toMatchObject({
      code: 'already_exists',
      fields: { resource: 'port' },
    });
  });

  it('is reached from everywhere when asked to', async () => {
    const listener = await listen({ port: 0, everywhere: true }, (stream) => stream.end('hi'));
    expect(await text(connect(listener.port, '127.0.0.2'))).toBe('hi');
    listener.close();
    const narrow = await listen({ port: 0 }, (stream) => stream.end('hi'));
    await expect(once(connect(narrow.port, '127.0.0.2'), 'connect')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    narrow.close();
  });

  function isOpen(port: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }
});

describe('the list of ports', () => {
  it('names each listening port once, in order, with its program', async () => {
    const server =
      'import socket,time;s=socket.create_server(("127.0.0.1",0));print(s.getsockname()[1],flush=True)';
    const { stdout } = await sandbox.sh(
      `for user in 0 1234; do setpriv --reuid $user --regid $user --clear-groups \
         python3 -c '${server};time.sleep(60)' >> ports & echo $! >> pids; done
       until [ "$(wc -l < ports)" = 2 ]; do sleep 0.05; done; cat ports pids`,
    );
    const [one, two, ...pids] = stdout.trim().split('\n').map(Number);
    const ports = await sandbox.agent.ports(sandbox.id);
    for (const port of [one, two]) {
      expect(ports.filter((found) => found.port === port)).toEqual([
        {
          ...{ port, name: 'python3', pid: expect.any(Number) },
          command: `python3 -c ${server};time.sleep(60)`,
        },
      ]);
    }
    const holders = ports.filter(({ port }) => port === one || port === two).map(({ pid }) => pid);
    expect(holders.sort()).toEqual(pids.sort());
    const numbers = ports.map(({ port }) => port);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  }, 30_000);

  it('has an empty name, no pid and no command for what nobody inside holds', async () => {
    const port = await serve(() => {}, '0.0.0.0');
    expect(await sandbox.agent.ports(sandbox.id)).toContainEqual({
      port,
      name: '',
      pid: null,
      command: null,
    });
  });
});
