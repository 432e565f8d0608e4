/** Reading event streams, however they are cut into pieces. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readEvents, type ServerEvent } from '../../../src/surfaces/cli/client.ts';

async function read(pieces: Uint8Array<ArrayBuffer>[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(ReadableStream.from(pieces))) events.push(event);
  return events;
}

it('gives events back as they were sent, wherever the pieces begin', async () => {
  const value = fc.record({ event: fc.constantFrom('progress', 'result', 'error'), value: fc.jsonValue() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { maxLength: 5 }),
      fc.integer({ min: 1, max: 40 }),
      async (sent, size) => {
        const text = sent
          .map(({ event, value }) => `: alive\n\nevent: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
          .join('');
        const bytes = Buffer.from(text);
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          Uint8Array.from(bytes.subarray(index * size, (index + 1) * size)),
        );
        const events = await read(pieces);
        expect(events).toEqual(sent.map(({ event, value }) => ({ event, data: JSON.stringify(value) })));
      },
    ),
  );
});

it('reads a large result in a time that grows with its size alone', async () => {
  const data = JSON.stringify('x'.repeat(20_000_000));
  const bytes = Buffer.from(`event: result\ndata: ${data}\n\n`);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_, index) =>
    Uint8Array.from(bytes.subarray(index * 16_384, (index + 1) * 16_384)),
  );
  const begun = performance.now();
  const [event] = await read(pieces);
  expect(event?.data.length).toBe(data.length);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
