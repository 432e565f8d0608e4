/** Answers in chunks of one byte without end, to visitors that read as fast as they can and to some that never read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dial } from '../../gateways/visitor.ts';
import { must } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const PORT = 8_099;
const VISITORS = 48;
const server = `
import socket, threading
chunks = b'1\\r\\nx\\r\\n' * 40000
def serve(one):
    try:
        one.recv(65536)
        one.sendall(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n')
        while True: one.sendall(chunks)
    except OSError: one.close()
listener = socket.create_server(('127.0.0.1', ${PORT}), backlog=256)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
`;

let site = '';
let token = '';

export const attack: Attack = {
  name: 'a preview in chunks of one byte',
  async prepare({ mallory, sandbox }) {
    await must(mallory, 'WriteFile', { sandbox, path: '/workspace/chunks.py', content: server });
    const command = 'nohup python3 /workspace/chunks.py >/dev/null 2>&1 &';
    await must(mallory, 'RunCommand', { sandbox, command, timeout_seconds: 10 });
    const preview = await must(mallory, 'GetPortPreviewUrl', { sandbox, port: PORT });
    site = String(preview['url']);
    token = String(preview['token']);
  },
  async run(_ground, signal) {
    const visitors = Array.from({ length: VISITORS }, (_, at) => visiting(at % 3 > 0, signal));
    await Promise.all(visitors);
  },
};

/** One visitor after another, until the end. */
async function visiting(reads: boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const request = `GET / HTTP/1.1\r\nHost: ${new URL(site).host}\r\nX-Sandbox-Preview-Token: ${token}\r\n\r\n`;
    const socket = dial(site, request);
    if (reads) socket.resume();
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const left = new AbortController();
    await Promise.race([closed, sleep(60_000, undefined, { signal: AbortSignal.any([signal, left.signal]) })])
      .catch(() => {})
      .finally(() => left.abort());
    socket.destroy();
    await sleep(50);
  }
}
