/** Transfers for tests of limits: a server that sends and takes bytes without end, and clients that count what passed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Namespace } from '../harness.ts';

export const sink = 18_101;
export const source = 18_102;
export const web = 18_103;

/** Takes bytes on one port and sends them on another, by TCP; takes UDP on both. */
export async function serveBytes(namespace: Namespace): Promise<Disposable> {
  return program(namespace, serverCode, String(sink), String(source));
}

/** Answers HTTP with a body without end. */
export function serveWithoutEnd(namespace: Namespace): Promise<Disposable> {
  return program(namespace, webCode, String(web));
}

/** Receives such a body. */
export function fetchWithoutEnd(from: Namespace, address: string): Promise<Transfer> {
  return transfer(from, fetchCode, address, String(web));
}

export interface Transfer extends Disposable {
  /** Bytes so far, as the receiver has counted them. */
  count(): number;
  /** Bytes a second over a period from now on. */
  rate(periodMs: number): Promise<number>;
}

/** Receives bytes without end. */
export function download(from: Namespace, address: string): Promise<Transfer> {
  return transfer(from, downloadCode, address, String(source));
}

/** Sends bytes without end; counts those that the server has said to have got. */
export function upload(from: Namespace, address: string): Promise<Transfer> {
  return transfer(from, uploadCode, address, String(sink));
}

/** Sends datagrams as fast as it can. */
export function flood(from: Namespace, address: string): Promise<Disposable> {
  return program(from, floodCode, address, String(sink));
}

/** Opens connections as fast as it can, and closes each. */
export function storm(from: Namespace, address: string): Promise<Disposable> {
  return program(from, stormCode, address, String(sink));
}

async function transfer(from: Namespace, code: string, ...args: string[]): Promise<Transfer> {
  const child = start(from, code, ...args);
  let count = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) count = Number(line) || count;
  });
  await once(child.stdout, 'data');
  return {
    count: () => count,
    async rate(periodMs) {
      const [before, begun] = [count, performance.now()];
      await sleep(periodMs);
      return ((count - before) * 1_000) / (performance.now() - begun);
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

async function program(from: Namespace, code: string, ...args: string[]): Promise<Disposable> {
  const child = start(from, code, ...args);
  await once(child.stdout, 'data');
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

function start(from: Namespace, code: string, ...args: string[]) {
  return spawn('nsenter', [`--net=${from.path}`, 'python3', '-c', code, ...args]);
}

const serverCode = `
import socket, sys, threading
piece = bytes(65536)
def take(client):
    count = 0
    try:
        while True:
            got = len(client.recv(65536))
            if got == 0: return
            count += got
            client.sendall(b'%d\\n' % count)
    except OSError: pass
def give(client):
    try:
        while True: client.sendall(piece)
    except OSError: pass
def serve(port, work):
    server = socket.create_server(('0.0.0.0', port), backlog=1024)
    while True:
        client, _ = server.accept()
        threading.Thread(target=work, args=(client,), daemon=True).start()
for port, work in ((int(sys.argv[1]), take), (int(sys.argv[2]), give)):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(('0.0.0.0', port))
    threading.Thread(target=serve, args=(port, work), daemon=True).start()
    globals()['udp%d' % port] = udp
print('ready', flush=True)
threading.Event().wait()
`;

const downloadCode = `
import socket, sys
client = socket.create_connection((sys.argv[1], int(sys.argv[2])))
count = 0
while True:
    got = len(client.recv(65536))
    if got == 0: break
    count += got
    print(count, flush=True)
`;

const uploadCode = `
import socket, sys, threading
client = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def send():
    try:
        while True: client.sendall(bytes(65536))
    except OSError: pass
threading.Thread(target=send, daemon=True).start()
while True:
    got = client.recv(65536)
    if not got: break
    print(got.decode().strip().split('\\n')[-1], flush=True)
`;

const floodCode = `
import socket, sys
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.connect((sys.argv[1], int(sys.argv[2])))
print('floods', flush=True)
while True:
    try:
        udp.send(bytes(1400))
    except OSError: pass
`;

const stormCode = `
import socket, sys
print('storms', flush=True)
while True:
    client = socket.socket()
    client.setblocking(False)
    try: client.connect((sys.argv[1], int(sys.argv[2])))
    except OSError: pass
    client.close()
`;

const webCode = `
import socket, sys, threading
def answer(client):
    try:
        client.recv(65536)
        client.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 1000000000000\\r\\n\\r\\n')
        while True: client.sendall(bytes(65536))
    except OSError: pass
server = socket.create_server(('0.0.0.0', int(sys.argv[1])))
print('ready', flush=True)
while True:
    client, _ = server.accept()
    threading.Thread(target=answer, args=(client,), daemon=True).start()
`;

const fetchCode = `
import socket, sys
client = socket.create_connection((sys.argv[1], int(sys.argv[2])))
client.sendall(b'GET / HTTP/1.1\\r\\nHost: %s:%s\\r\\n\\r\\n' % (sys.argv[1].encode(), sys.argv[2].encode()))
count = 0
while True:
    got = len(client.recv(65536))
    if got == 0: break
    count += got
    print(count, flush=True)
`;
