/** How the gateway of the document database reads its clients: streams into messages, messages into commands. */
import { deserialize, serialize } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkedEnd, fieldsOf } from '../../images/documentdb/gateway/bson-shape.ts';
import { codeOf, unpackSqlState } from '../../images/documentdb/gateway/fault-codes.ts';
import { Fault, faultDocument } from '../../images/documentdb/gateway/faults.ts';
import { Framing } from '../../images/documentdb/gateway/framing.ts';
import { encodeReply, parseRequest } from '../../images/documentdb/gateway/message.ts';
import { frame, message, query, u32 } from './messages.ts';

const MAX = 1_000;

describe('a stream', () => {
  it('gives the messages that were sent, however it was cut', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(messages, cuts, (contents, sizes) => {
        const sent = contents.map((content, index) => frame(2013, content, index));
        const framing = new Framing();
        const received: Buffer[] = [];
        for (const piece of pieces(Buffer.concat(sent), sizes)) {
          framing.push(piece);
          for (let next = framing.next(MAX); next; next = framing.next(MAX)) received.push(Buffer.from(next));
        }
        expect(received).toEqual(sent);
        expect(framing.bytesWaiting).toBe(0);
      }),
    );
  });

  it.each([
    ['shorter than its head', 15],
    ['of no length', 0],
    ['of a negative length', -1],
    ['longer than is allowed', MAX + 1],
  ])('is refused at once when a message is %s', (_, length) => {
    const framing = new Framing();
    framing.push(u32(length));
    expect(() => framing.next(MAX)).toThrow(Fault);
  });

  it('keeps no more than it got of a message that never ends', () => {
    const framing = new Framing();
    framing.push(u32(MAX));
    for (let i = 0; i < 9; i++) framing.push(Buffer.alloc(100));
    expect(framing.next(MAX)).toBeNull();
    expect(framing.bytesWaiting).toBe(904);
  });
});

describe('a message', () => {
  it('names its command, its database, and the documents beside it', () => {
    const parsed = parseRequest(
      message(
        { insert: 'c', $db: 'shop', ordered: true },
        { sequences: { documents: [{ a: 1 }, { b: 2 }] } },
      ),
    );
    expect(parsed).toMatchObject({ id: 1, name: 'insert', database: 'shop', isUnanswered: false });
    expect(deserialize(parsed.body)).toEqual({ insert: 'c', $db: 'shop', ordered: true });
    expect(
      parsed.sequences.get('documents')?.equals(Buffer.concat([{ a: 1 }, { b: 2 }].map((d) => serialize(d)))),
    ).toBe(true);
  });

  it('may carry a checksum, and may want no answer', () => {
    expect(parseRequest(message({ ping: 1 }, { checksum: true })).name).toBe('ping');
    expect(parseRequest(message({ ping: 1 }, { flags: 2 })).isUnanswered).toBe(true);
  });

  it('of the old kind is understood for a hello, and answered in the old form', () => {
    const parsed = parseRequest(query({ ismaster: 1 }));
    expect(parsed).toMatchObject({ name: 'ismaster', database: 'admin', isQuery: true });
    const [head] = encodeReply(parsed, serialize({ ok: 1 }));
    expect([head.readInt32LE(12), head.readInt32LE(32)]).toEqual([1, 1]);
  });

  it.each([
    ['of another kind', frame(2012, Buffer.alloc(20))],
    ['without a body', frame(2013, u32(0))],
    ['with flags that nobody knows', message({ ping: 1 }, { flags: 4 })],
    ['with an unknown section', frame(2013, Buffer.concat([u32(0), Buffer.of(7), serialize({ ping: 1 })]))],
    [
      'with two bodies',
      frame(2013, Buffer.concat([u32(0), ...twice(Buffer.concat([Buffer.of(0), serialize({})]))])),
    ],
    [
      'whose body is longer than it',
      frame(2013, Buffer.concat([u32(0), Buffer.of(0), u32(1_000), Buffer.alloc(9)])),
    ],
  ])('%s is refused', (_, bytes) => {
    expect(() => parseRequest(bytes)).toThrow(Fault);
  });

  it('of any bytes is read or refused, and nothing else', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const kinds = fc.constantFrom(2013, 2004, 1, 0);
    fc.assert(
      fc.property(bytes, kinds, (rest, kind) => {
        expectReadOrRefused(frame(kind, rest));
      }),
    );
  });

  it('with any byte changed is read or refused, and nothing else', () => {
    const sent = message(
      { find: 'c', filter: { a: [1, { b: 'text' }], c: /x/i }, $db: 'd' },
      { sequences: { documents: [{ a: 1 }] } },
    );
    fc.assert(
      fc.property(fc.nat(sent.length - 17), fc.nat(255), (at, value) => {
        const changed = Buffer.from(sent);
        changed[16 + at] = value;
        expectReadOrRefused(changed);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a document', () => {
  it('of any values is walked to its end, and its fields are found', () => {
    const document = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 4 }), {
      maxKeys: 6,
    });
    fc.assert(
      fc.property(document, (value) => {
        const bytes = Buffer.from(serialize(value));
        expect(checkedEnd(bytes, 0, bytes.length)).toBe(bytes.length);
        expect(fieldsOf(bytes).map(({ name }) => name)).toEqual(Object.keys(value));
      }),
    );
  });

  it('cut off anywhere is refused', () => {
    const bytes = Buffer.from(serialize({ a: { b: ['x', { c: 1.5 }] }, d: /r/i, e: null }));
    for (let end = 0; end < bytes.length; end++) {
      expect(() => checkedEnd(bytes.subarray(0, end), 0, end)).toThrow(Fault);
    }
  });

  it('nested ever deeper is refused, with no harm to the stack', () => {
    let bytes = Buffer.from(serialize({}));
    for (let i = 0; i < 5_000; i++) {
      bytes = Buffer.concat([u32(bytes.length + 8), Buffer.of(3), Buffer.from('d\0'), bytes, Buffer.of(0)]);
    }
    expect(() => checkedEnd(bytes, 0, bytes.length)).toThrow(/nested/);
  });
});

describe('an error of PostgreSQL', () => {
  it.each([
    ['M0001', 2],
    ['M000E', 43],
    ['M001C', 11_000],
    ['M007U', 40_324],
    ['42501', 13],
    ['23505', 11_000],
    ['XX000', null],
    ['23P01', 11_000],
    ['M0ZZZ', 2],
  ])('%s is %s to a client', (state, code) => {
    expect(codeOf(state)).toBe(code);
  });

  it('in the list of a write is packed, and means the same', () => {
    expect(unpackSqlState(319_029_277)).toBe('M001C');
    expect(unpackSqlState(16_797_828)).toBe('42501');
  });

  it('keeps its words; one of the gateway itself keeps none', () => {
    const failed = Object.assign(new Error('no such operator'), { code: 'M0001' });
    expect(deserialize(faultDocument(failed))).toEqual({
      ok: 0,
      errmsg: 'no such operator',
      code: 2,
      codeName: 'BadValue',
    });
    const broken = Object.assign(new Error('connect EPIPE /run/secret'), {
      code: 'EPIPE',
      syscall: 'write',
      errno: -32,
    });
    expect(deserialize(faultDocument(broken))).toMatchObject({
      code: 91,
      errmsg: expect.not.stringContaining('secret'),
    });
  });
});

function expectReadOrRefused(bytes: Buffer): void {
  try {
    expect(typeof parseRequest(bytes).name).toBe('string');
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
  }
}

function* pieces(bytes: Buffer, sizes: number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function twice<T>(value: T): [T, T] {
  return [value, value];
}
