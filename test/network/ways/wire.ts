/** The wire of a network namespace: frames that are put on its link, and marks in frames that pass a link of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Namespace } from '../harness.ts';

/** Sends frames by a link, in their order. */
export async function sendFrames(from: Namespace, link: string, frames: Buffer[]): Promise<void> {
  const child = spawn('nsenter', [`--net=${from.path}`, 'python3', '-c', sendCode, link]);
  const closed = once(child, 'close');
  let fault = '';
  child.stderr.on('data', (text) => {
    fault += text;
  });
  child.stdin.end(frames.map((bytes) => bytes.toString('hex')).join('\n'));
  const [status] = await closed;
  if (status !== 0) throw new Error(fault);
}

export interface Tap extends Disposable {
  /** Marks so far: `way-` and four digits, wherever they stand in a frame. */
  marks: Set<string>;
}

/** Looks at all frames that come to a namespace, by whatever link. */
export async function tap(at: Namespace): Promise<Tap> {
  const child = spawn('nsenter', [`--net=${at.path}`, 'python3', '-c', tapCode]);
  child.stderr.pipe(process.stderr);
  await once(child.stdout, 'data');
  const marks = new Set<string>();
  createInterface({ input: child.stdout }).on('line', (mark) => marks.add(mark));
  return { marks, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

export const markOf = (number: number) => `way-${String(number).padStart(4, '0')}`;

const sendCode = `
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((sys.argv[1], 0))
for line in sys.stdin:
    link.send(bytes.fromhex(line.strip()))
`;

const tapCode = `
import re, socket
taps = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print('ready', flush=True)
while True:
    frame, place = taps.recvfrom(65535)
    # Packets of its own are none that came.
    if place[2] == socket.PACKET_OUTGOING:
        continue
    for mark in re.findall(rb'way-[0-9]{4}', frame):
        print(mark.decode(), flush=True)
`;
