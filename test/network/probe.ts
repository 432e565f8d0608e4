/** Servers and clients for network tests, as pieces of JavaScript that run inside a namespace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Namespace } from './harness.ts';

/** What a client saw: the server's greeting, an error code, or `timeout`. */
export type Outcome = 'hello' | 'timeout' | (string & {});

const timeoutMs = 600;

export interface Server extends Disposable {
  /** Texts that came by UDP, from wherever, answered or not. */
  received: Set<string>;
}

/** Listens by TCP and UDP on every address of the namespace until it is disposed of. */
export async function serve(namespace: Namespace, port: number): Promise<Server> {
  const child = spawn('nsenter', [
    `--net=${namespace.path}`,
    process.execPath,
    '-e',
    serverCode,
    '--',
    String(port),
  ]);
  const started = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (typeof started[0] === 'number') throw new Error(`server: ${child.stderr.read()}`);
  const received = new Set<string>();
  createInterface({ input: child.stdout }).on('line', (text) => received.add(text));
  return { received, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

export async function connectTcp(
  from: Namespace,
  address: string,
  port: number,
  source = '',
): Promise<Outcome> {
  return (await greeting(from, tcpCode, address, port, source))[0] ?? '';
}

/** A reply counts from whatever address it comes. */
export async function sendUdp(
  from: Namespace,
  address: string,
  port: number,
  source = '',
  text = 'hi',
): Promise<Outcome> {
  return (await greeting(from, udpCode, address, port, source, text))[0] ?? '';
}

/** Sends an echo request as a program of the slot's ids does, without a raw socket; true when its reply comes. */
export async function ping(from: Namespace, address: string): Promise<boolean> {
  const user = `--user=${join(dirname(from.path), 'user')}`;
  const code = ['python3', '-c', pingCode, address, String(timeoutMs / 1_000)];
  return (await from.run('nsenter', user, ...code)).trim() === 'True';
}

/** The address that a server sees connections of this namespace come from. */
export async function addressSeen(
  from: Namespace,
  address: string,
  port: number,
): Promise<string | undefined> {
  return (await greeting(from, tcpCode, address, port, ''))[1];
}

async function greeting(
  from: Namespace,
  code: string,
  address: string,
  port: number,
  source: string,
  text = '',
): Promise<string[]> {
  return (await from.node(code, address, String(port), source, String(timeoutMs), text)).trim().split(' ');
}

/** Opens `count` connections at once and keeps them until all have an outcome; how many were greeted. */
export async function connectMany(
  from: Namespace,
  address: string,
  port: number,
  count: number,
): Promise<number> {
  return Number(await from.node(manyCode, address, String(port), String(count)));
}

/** A connection that is kept busy; `count` grows as long as bytes come back. */
export async function openConnection(from: Namespace, address: string, port: number) {
  const child = spawn('nsenter', [
    `--net=${from.path}`,
    process.execPath,
    '-e',
    echoCode,
    '--',
    address,
    String(port),
  ]);
  let count = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    count += chunk.length;
  });
  await once(child.stdout, 'data');
  return { count: () => count, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

const serverCode = `
const port = Number(process.argv[1]);
const udp = require('dgram').createSocket('udp4');
udp.on('message', (text, { port, address }) => {
  console.log(text.toString());
  udp.send('hello', port, address);
});
udp.bind(port, '0.0.0.0');
require('net').createServer((socket) => {
  socket.on('error', () => {});
  socket.write('hello ' + socket.remoteAddress.replace('::ffff:', ''));
  socket.pipe(socket);
}).listen(port, '::', 2048, () => console.log('listening'));
`;

const tcpCode = `
const [address, port, source, timeout] = process.argv.slice(1);
const end = (outcome) => { console.log(outcome); process.exit(); };
const socket = require('net').connect({ host: address, port: Number(port), localAddress: source || undefined });
socket.on('data', (data) => end(data.toString()));
socket.on('error', (error) => end(error.code));
setTimeout(end, Number(timeout), 'timeout');
`;

const udpCode = `
const [address, port, source, timeout, text] = process.argv.slice(1);
const end = (outcome) => { console.log(outcome); process.exit(); };
const socket = require('dgram').createSocket('udp4');
socket.on('error', (error) => end(error.code));
socket.on('message', (data) => end(data.toString()));
socket.bind(0, source || undefined, () => {
  socket.setBroadcast(true);
  socket.send(text, Number(port), address);
});
setTimeout(end, Number(timeout), 'timeout');
`;

const pingCode = `
import socket, sys
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
echo.settimeout(float(sys.argv[2]))
try:
    # Type 8, sequence 1; the kernel sets the checksum and the number.
    echo.sendto(bytes([8, 0, 0, 0, 0, 0, 0, 1]), (sys.argv[1], 0))
    answer = echo.recv(2000)
    print(answer[0] == 0 and answer[6:8] == bytes([0, 1]))
except OSError:
    print(False)
`;

const echoCode = `
const [address, port] = process.argv.slice(1);
const socket = require('net').connect({ host: address, port: Number(port) });
socket.pipe(process.stdout);
setInterval(() => socket.write('.'), 20);
`;

const manyCode = `
const [address, port, count] = process.argv.slice(1);
let greeted = 0, settled = 0;
const settle = (good) => {
  greeted += good;
  if (++settled === Number(count)) { console.log(greeted); process.exit(); }
};
for (let i = 0; i < Number(count); i++) {
  const socket = require('net').connect({ host: address, port: Number(port) });
  socket.once('data', () => settle(1)).once('error', () => settle(0));
  socket.setTimeout(2500, () => socket.bytesRead || settle(0));
}
`;
