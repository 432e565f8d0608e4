// A web application for tests, run by Node inside a sandbox: each route shows one thing that a gateway must carry.
import { createHash, randomFillSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';

const listeners = new Set();
const left = [];
let connections = 0;

const routes = {
  '/echo': (request, response) => {
    response.writeHead(200, { 'content-type': request.headers['content-type'] ?? 'text/plain' });
    request.pipe(response);
  },
  '/headers': (request, response) => {
    const { method, url, rawHeaders: headers } = request;
    response.end(JSON.stringify({ method, url, headers }));
  },
  '/digest': async (request, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    response.end(JSON.stringify({ bytes, digest: hash.digest('hex') }));
  },
  '/big': async (_request, response, query) => {
    const hash = createHash('sha256');
    const block = randomFillSync(Buffer.alloc(1 << 18));
    response.writeHead(200, { trailer: 'x-digest' });
    for (let sent = 0; sent < Number(query.get('bytes')); sent += block.length) {
      block.writeUInt32LE(sent >>> 0, 0);
      hash.update(block);
      if (!response.write(Buffer.from(block))) await new Promise((go) => response.once('drain', go));
    }
    response.addTrailers({ 'x-digest': hash.digest('hex') });
    response.end();
  },
  '/events': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    listeners.add(response);
    response.once('close', () => listeners.delete(response));
  },
  '/emit': (_request, response, query) => {
    for (const listener of listeners) listener.write(`data: ${query.get('text')}\n\n`);
    response.end(String(listeners.size));
  },
  '/cookies': (_request, response) => {
    response.setHeader('set-cookie', [
      'a=1; Domain=localhost; Path=/',
      'b=2; path=/;DOMAIN=.localhost; Secure',
      'c=domain=x',
    ]);
    response.setHeader('connection', 'x-private');
    response.setHeader('x-private', 'of this connection');
    response.end();
  },
  '/hang': (_request, response, query) => response.once('close', () => left.push(query.get('name'))),
  '/left': (_request, response) => response.end(JSON.stringify(left)),
  '/half': (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    response.write('x'.repeat(1_000), () => response.socket.destroy());
  },
  '/until-closed': (_request, response) => {
    response.writeHead(200, { connection: 'close' });
    response.useChunkedEncodingByDefault = false;
    response.end('the end is the end');
  },
  '/refuses': (request, response) => {
    response.writeHead(413, { connection: 'close' });
    response.end('too much', () => request.socket.destroy());
  },
  '/connections': (_request, response) => response.end(String(connections)),
  '/status': (_request, response, query) => {
    response.writeHead(Number(query.get('code')), 'As It Was');
    response.end();
  },
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://inside');
  const route = routes[pathname];
  if (route) route(request, response, searchParams);
  else response.writeHead(404).end('no such route');
});
server.on('connection', () => {
  connections += 1;
});
server.on('checkContinue', (request, response) => {
  if (request.url === '/no') response.writeHead(417).end('not that');
  else {
    response.writeContinue();
    server.emit('request', request, response);
  }
});
server.on('upgrade', (request, socket, head) => {
  socket.on('error', () => {});
  if (request.url === '/no') {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 8\r\n\r\nnot here');
    return;
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\nX-Seen: ');
  socket.write(`${request.headers.upgrade}\r\n\r\nwelcome;`);
  const shout = (bytes) => socket.write(bytes.toString().toUpperCase());
  if (head.length > 0) shout(head);
  socket.on('data', shout);
  socket.on('end', () => socket.end('bye'));
});
server.listen(3000);

const raw = (port, onSocket) =>
  createTcpServer((socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  }).listen(port);
raw(4001, (socket) => socket.end('\0\x01 this is no HTTP \r\n\r\n'));
raw(4002, (socket) => {
  socket.write('HTTP/1.1 200 OK\r\n');
  const more = () => socket.write(`X-More: ${'y'.repeat(1_000)}\r\n`, (error) => error ?? setImmediate(more));
  more();
});
raw(4003, (socket) => socket.once('data', () => socket.destroy()));
raw(4004, (socket) => socket.end('HTTP/1.1 200 OK\r\nX-Bad: a\0b\r\nContent-Length: 0\r\n\r\n'));
raw(4005, (socket) =>
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'),
);
raw(4006, (socket) =>
  socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
);
// Keeps a connection for one request alone, and says otherwise.
raw(4007, (socket) => {
  let requests = 0;
  socket.on('data', () => {
    requests += 1;
    if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    else socket.destroy();
  });
});
console.log('serving');
