/** Messages of a client's stream: envelopes of five bytes and JSON, in pieces of any size. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { messagesOf } from '../../../src/surfaces/e2b/envd/connect.ts';

function envelope(text: string, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

async function read(pieces: Iterable<Buffer>) {
  const messages = [];
  for await (const message of messagesOf(Readable.from(pieces))) messages.push(message);
  return messages;
}

const bytesOf = (whole: Buffer) => Array.from(whole, (_, at) => whole.subarray(at, at + 1));

it('come whole, however they are cut, and the last envelope is none', async () => {
  const whole = Buffer.concat([
    envelope('{"a":1}'),
    envelope('{}'),
    envelope('{"b":"x"}'),
    envelope('{}', 2),
  ]);
  const messages = [{ a: 1 }, {}, { b: 'x' }];
  expect(await read([whole])).toEqual(messages);
  expect(await read(bytesOf(whole))).toEqual(messages);
});

it('of a megabyte are taken byte by byte without a copy for each', async () => {
  const text = JSON.stringify({ a: 'x'.repeat(1024 * 1024 - 8) });
  const [message] = await read(bytesOf(envelope(text)));
  expect(message?.['a']).toHaveLength(1024 * 1024 - 8);
});

it.each([
  ['announces more than a megabyte', [Buffer.from([0, 0, 16, 0, 1])], 'too_large'],
  ['is compressed', [envelope('{}', 1)], 'invalid_argument'],
  ['is a list', [envelope('[]')], 'invalid_argument'],
  ['is no JSON', [envelope('{')], 'invalid_argument'],
  ['is too deep', [envelope('['.repeat(65) + ']'.repeat(65))], 'too_large'],
])('one that %s is refused', async (_, pieces, code) => {
  await expect(read(pieces)).rejects.toMatchObject({ code });
});
