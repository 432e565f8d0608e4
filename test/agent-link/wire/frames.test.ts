import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeJson,
  FrameParser,
  type FrameType,
  frameHeader,
  frameTypes,
  ProtocolError,
} from '../../../src/agent-link/frames.ts';
import { bytesOf, type GoldenFrame, goldenBreaches, goldenExchanges } from './golden.ts';

interface Seen {
  type: FrameType;
  payload: Buffer;
}

/** Frames in order, with data that came without a break as one. */
function parse(chunks: Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const parser = new FrameParser({
    frame: (type, payload) => seen.push({ type, payload: Buffer.from(payload) }),
    data(piece) {
      const last = seen.at(-1);
      if (last?.type === frameTypes.data) last.payload = Buffer.concat([last.payload, piece]);
      else seen.push({ type: frameTypes.data, payload: Buffer.from(piece) });
    },
  });
  for (const chunk of chunks) parser.push(chunk);
  expect(parser.atBoundary).toBe(true);
  return seen;
}

function cut(bytes: Buffer, cuts: number[]): Buffer[] {
  const at = [0, ...cuts.map((point) => point % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, index) => bytes.subarray(at[index], to));
}

const frames = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constantFrom(frameTypes.reply, frameTypes.item, frameTypes.error),
      payload: fc.json().map((json) => Buffer.from(json)),
    }),
    fc.record({
      type: fc.constant(frameTypes.data),
      payload: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    }),
    fc.constant({ type: frameTypes.end, payload: Buffer.alloc(0) }),
  ),
  { maxLength: 8 },
);

describe('frames', () => {
  it('come out as they went in, wherever the stream is cut', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(500), { maxLength: 12 }), (sent, cuts) => {
        const bytes = Buffer.concat(
          sent.flatMap(({ type, payload }) => [frameHeader(type, payload.length), payload]),
        );
        expect(parse(cut(bytes, cuts))).toEqual(parse([bytes]));
        expect(parse([bytes]).filter(({ type }) => type !== frameTypes.data)).toEqual(
          sent.filter(({ type }) => type !== frameTypes.data),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('of any bytes are parsed or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const parser = new FrameParser({ frame() {}, data() {} });
        try {
          parser.push(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
      { numRuns: 500 },
    );
  });

  for (const { name, meaning, hex } of goldenBreaches()) {
    it(`are refused when they break the protocol: ${name}: ${meaning}`, () => {
      const parser = new FrameParser({ frame() {}, data() {} });
      expect(() => parser.push(Buffer.from(hex, 'hex'))).toThrow(ProtocolError);
    });
  }

  it('of the golden exchanges are read and written byte for byte', () => {
    for (const { host, agent } of goldenExchanges()) {
      for (const golden of [...host, ...agent]) expectGolden(golden);
    }
  });
});

function expectGolden(golden: GoldenFrame): void {
  const type = frameTypes[golden.type];
  const [seen] = parse([bytesOf([golden])]);
  expect(seen?.type).toBe(type);
  if (golden.json !== undefined) {
    expect(JSON.parse(String(seen?.payload))).toEqual(golden.json);
    expect(encodeJson(type, golden.json).toString('hex')).toBe(golden.hex);
  }
}
