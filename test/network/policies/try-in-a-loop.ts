/** A client in a machine that connects to one port again and again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inside, publicAddress } from '../harness.ts';

/** Tries a port from a machine without end; counts of what came of it. */
export async function tryInALoop(slot: Slot, to: number) {
  const child = spawn('nsenter', [
    `--net=${inside(slot).path}`,
    process.execPath,
    '-e',
    loopCode,
    '--',
    publicAddress,
    String(to),
  ]);
  const seen = { greeted: 0, refused: 0 };
  child.stdout.on('data', (chunk: Buffer) => {
    for (const outcome of chunk.toString()) seen[outcome === '+' ? 'greeted' : 'refused']++;
  });
  await once(child.stdout, 'data');
  return { seen, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

const loopCode = `
const [address, port] = process.argv.slice(1);
const once = () => new Promise((resolve) => {
  const socket = require('net').connect({ host: address, port: Number(port) });
  const end = (outcome) => { process.stdout.write(outcome); socket.destroy(); resolve(); };
  // The fake's gate greets too, in another way.
  socket.once('data', (data) => end(data.toString().startsWith('hello') ? '+' : '-'));
  socket.once('error', () => end('-'));
});
(async () => { for (;;) { await once(); await new Promise((resolve) => setTimeout(resolve, 5)); } })();
`;
