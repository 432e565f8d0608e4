/** A real agent answers the golden requests over TLS as it does over a unix socket: the same frames, of the same shape. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { FrameParser, type FrameType, frameTypes, parseJson } from '../../../src/agent-link/frames.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { bytesOf, goldenBreaches, goldenExchanges } from '../wire/golden.ts';

/** Until the first frame; and until an answer that leaves the connection open counts as whole. */
const FIRST_MS = 5_000;
const QUIET_MS = 700;
/** Exchanges in which all that follows the request follows the reply: until then it would break the protocol. */
const AFTER_THE_REPLY = ['tcp', 'terminal-open'];

let bySocket: ScratchSandbox;
let byTls: ScratchSandbox;
beforeAll(async () => {
  bySocket = await startScratchSandbox({ transport: 'socket' });
  byTls = await startScratchSandbox({ transport: 'tls' });
});
afterAll(async () => {
  await bySocket?.[Symbol.asyncDispose]();
  await byTls?.[Symbol.asyncDispose]();
});

it.each(goldenExchanges())('$name: $meaning', async ({ name, host }) => {
  const answers: string[][] = [];
  const [request, ...rest] = host;
  const asked =
    AFTER_THE_REPLY.includes(name) && request ? [bytesOf([request]), bytesOf(rest)] : [bytesOf(host)];
  if (name === 'listen-taken') await takePort(8080);
  for (const sandbox of [bySocket, byTls]) answers.push(await answerTo(sandbox, asked));
  expect(answers[0]?.length).toBeGreaterThan(0);
  expect(answers[1]).toEqual(answers[0]);
});

it.each(goldenBreaches())('$name: $meaning', async ({ hex }) => {
  for (const sandbox of [bySocket, byTls]) {
    expect(await answerTo(sandbox, [Buffer.from(hex, 'hex')])).toEqual([]);
  }
});

/** The agents share this machine's ports: what the first held would be taken for the second, for a moment more. */
async function takePort(port: number): Promise<void> {
  const taken = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void taken.close());
  // Another program has it, which is as good.
  await once(taken, 'listening').catch(() => {});
}

/** The shapes of all frames until the end, those of independent streams in any order. */
async function answerTo(sandbox: ScratchSandbox, [first, rest]: Buffer[]): Promise<string[]> {
  const channel = await sandbox.openChannel();
  const shapes = new Set<string>();
  const parser = new FrameParser({
    frame: (type, payload) => void shapes.add(shapeOf(type, payload)),
    data: () => void shapes.add('data'),
  });
  channel.on('data', (chunk: Buffer) => parser.push(chunk));
  channel.on('error', () => {});
  if (rest) channel.once('data', () => channel.write(rest));
  channel.write(first ?? '');
  await whole(channel);
  channel.destroy();
  return [...shapes].toSorted();
}

async function whole(channel: Duplex): Promise<void> {
  const over = new Promise<boolean>((resolve) => {
    channel.once('end', () => resolve(true));
    channel.once('close', () => resolve(true));
  });
  for (let silent = false, patienceMs = FIRST_MS; !silent; patienceMs = QUIET_MS) {
    const more = new Promise<boolean>((resolve) => channel.once('data', () => resolve(false)));
    silent = await Promise.race([over, more, sleep(patienceMs, true)]);
  }
}

/** The type, with the names of the fields, and the code of an error. */
function shapeOf(type: FrameType, payload: Buffer): string {
  if (type === frameTypes.end) return 'end';
  const json = parseJson(payload) as Record<string, unknown>;
  const code = type === frameTypes.error ? json['code'] : '';
  return [type, code, ...Object.keys(json).toSorted()].join(' ');
}
