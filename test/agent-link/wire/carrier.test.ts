/** The host's end of the two operations of a carrier. */
import { Duplex, duplexPair } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { packDisk, unpackDisk } from '../../../src/agent-link/carrier.ts';
import { data, end, item, reply, SANDBOX } from './fake-agent.ts';
import { bytesOf, carrierExchanges } from './golden.ts';

/** A carrier that answers with these bytes once it has got so many. */
function carrier(answer: Buffer, afterBytes = 1) {
  const received: Buffer[] = [];
  let missing = afterBytes;
  let host = new Duplex();
  const open = async () => {
    const [ours, theirs] = duplexPair();
    host = ours;
    theirs.on('error', () => {});
    theirs.on('data', (chunk: Buffer) => {
      received.push(chunk);
      if (missing > 0 && chunk.length >= missing) theirs.write(answer);
      missing -= chunk.length;
    });
    return ours;
  };
  return { open, received: () => Buffer.concat(received).toString('hex'), closed: () => host.destroyed };
}

async function* bytes(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

const calls: Record<string, (open: () => Promise<Duplex>) => Promise<unknown>> = {
  'carrier-pack': async (open) => text(await packDisk(open, SANDBOX, ['lost+found', 'work'])),
  'carrier-unpack': (open) => unpackDisk(open, SANDBOX, ['lost+found'], bytes('tar')),
  'carrier-unpack-damaged': (open) =>
    unpackDisk(open, SANDBOX, [], bytes('tar')).catch(({ code, message }) => ({ code, message })),
};
const gives: Record<string, unknown> = {
  'carrier-pack': 'tar',
  'carrier-unpack': undefined,
  'carrier-unpack-damaged': {
    code: 'failed_precondition',
    message: 'The archive is damaged: it ends too early.',
  },
};

describe('golden exchanges with a carrier', () => {
  it.each(carrierExchanges())('$name: $meaning', async ({ name, host, agent }) => {
    const fake = carrier(bytesOf(agent), bytesOf(host).length);
    expect(await calls[name]?.(fake.open)).toEqual(gives[name]);
    expect(fake.received()).toBe(bytesOf(host).toString('hex'));
    await expect.poll(() => fake.closed()).toBe(true);
  });

  it('are all made by a call here', () => {
    const names = carrierExchanges().map(({ name }) => name);
    expect(names.sort()).toEqual(Object.keys(calls).sort());
  });
});

describe('an archive on its way out of a carrier', () => {
  it('waits for its reader', async () => {
    const much = Buffer.alloc(1024 * 1024, 7);
    const fake = carrier(Buffer.concat([reply({}), data(much), data(much), data(much), data(much), end()]));
    const disk = await packDisk(fake.open, SANDBOX, []);
    expect(disk.readableLength).toBeLessThanOrEqual(2 * much.length);
    expect((await buffer(disk)).length).toBe(4 * much.length);
  });

  it.each([
    ['that breaks off', Buffer.concat([reply({}), data('tar')])],
    ['with an item', Buffer.concat([reply({}), item({})])],
  ])('%s fails', async (_, answer) => {
    const open = async () => {
      const [ours, theirs] = duplexPair();
      theirs.on('error', () => {});
      theirs.once('data', () => theirs.end(answer));
      return ours;
    };
    const failing = packDisk(open, SANDBOX, []).then((disk) => text(disk));
    await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('ends its carrier’s work when it is destroyed', async () => {
    const fake = carrier(Buffer.concat([reply({}), data('tar')]));
    (await packDisk(fake.open, SANDBOX, [])).destroy();
    await expect.poll(() => fake.closed()).toBe(true);
  });
});

describe('an archive on its way into a carrier', () => {
  it('whose source fails breaks the connection off, and gives that error', async () => {
    const fake = carrier(Buffer.alloc(0));
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ta');
      throw new Error('the source is gone');
    }
    await expect(unpackDisk(fake.open, SANDBOX, [], failing())).rejects.toThrow('the source is gone');
    expect(fake.closed()).toBe(true);
    expect(fake.received()).not.toContain('0000000006');
  });
});
