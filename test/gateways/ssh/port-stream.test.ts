import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { PortStream } from '../../../src/gateways/ssh/port-stream.ts';

const WINDOW_BYTES = 1024 * 1024;

function pair(): [PortStream, PortStream] {
  const { port1, port2 } = new MessageChannel();
  return [new PortStream(port1), new PortStream(port2, { keepsChunks: true })];
}

describe('a byte stream between threads', () => {
  it('carries both ways, each way with an end of its own', async () => {
    const [here, there] = pair();
    here.end('question');
    expect(String(await buffer(there))).toBe('question');
    there.write('an');
    there.end('swer');
    expect(String(await buffer(here))).toBe('answer');
  });

  it('carries all of a lot, in order', async () => {
    const [here, there] = pair();
    const bytes = Buffer.from(Uint32Array.from({ length: 3_000_000 }, (_, i) => i).buffer);
    for (let at = 0; at < bytes.length; at += 70_001) here.write(bytes.subarray(at, at + 70_001));
    here.end();
    expect((await buffer(there)).equals(bytes)).toBe(true);
  });

  it('makes a side wait that is not read from', async () => {
    const [here, there] = pair();
    let written = 0;
    for (let i = 0; i < 40; i++) {
      here.write(Buffer.alloc(WINDOW_BYTES / 8), () => {
        written++;
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(written).toBe(8);
    there.resume();
    here.end();
    await once(here, 'finish');
    expect(written).toBe(40);
  });

  it('does not keep the bytes of one who uses them again', async () => {
    const [here, there] = pair();
    const chunk = Buffer.alloc(1_000, 1);
    there.write(chunk);
    chunk.fill(2);
    there.end();
    expect((await buffer(here)).equals(Buffer.alloc(1_000, 1))).toBe(true);
  });

  it('is destroyed with the other side, and what had come before can still be read', async () => {
    const [here, there] = pair();
    const [error] = await Promise.all([once(there, 'error'), here.destroy()]);
    expect(String(error)).toContain('closed the stream');
    const [before, after] = pair();
    before.end('all of it');
    await once(before, 'finish');
    before.destroy();
    expect(String(await buffer(after))).toBe('all of it');
  });
});
