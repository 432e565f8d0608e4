import { PassThrough, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { feed, pour } from '../../../src/gateways/ssh/worker/channel-writer.ts';

describe('pouring', () => {
  it('is over when the last chunk is taken, also of a stream that had ended before', async () => {
    const from = new PassThrough();
    from.end('all');
    await new Promise((resolve) => setImmediate(resolve));
    let taken = '';
    await pour(from, async (chunk) => {
      await sleep(20);
      taken += chunk;
    });
    expect(taken).toBe('all');
  });

  it('takes one chunk at a time, in order', async () => {
    let taking = 0;
    let taken = '';
    await pour(Readable.from(['a', 'b', 'c'].map((letter) => Buffer.from(letter))), async (chunk) => {
      expect(taking++).toBe(0);
      await sleep(1);
      taken += chunk;
      taking--;
    });
    expect(taken).toBe('abc');
  });

  it('fails when reading or taking fails', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('broken'));
      },
    });
    await expect(pour(broken, async () => {})).rejects.toThrow('broken');
    const refuse = async () => {
      throw new Error('refused');
    };
    await expect(pour(Readable.from([Buffer.from('x')]), refuse)).rejects.toThrow('refused');
  });
});

describe('feeding', () => {
  it('passes the end on, and drops what a closed one does not take', async () => {
    const to = new PassThrough();
    feed(Readable.from(['x', 'y'].map((letter) => Buffer.from(letter))), to);
    expect(await text(to)).toBe('xy');
    const closed = new Writable({ write: (_chunk, _encoding, done) => done() });
    closed.destroy();
    const from = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(10_000)));
    feed(from, closed);
    await new Promise((resolve) => from.once('end', resolve));
    expect(closed.destroyed).toBe(true);
  });
});
