import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicIPv4, isPublicIPv6 } from '../../src/model/network/public-addresses.ts';
import {
  type Answer,
  encodeAnswer,
  parseAnswer,
  udpLimit,
} from '../../src/runtime/oci/network/dns/answer.ts';
import {
  encodeQuery,
  encodeRefusal,
  parseQuery,
  type Question,
} from '../../src/runtime/oci/network/dns/query.ts';
import { parseResolvConf } from '../../src/runtime/oci/network/dns/upstream.ts';
import { recordTypes } from '../../src/runtime/oci/network/dns/wire.ts';

const id = fc.integer({ min: 0, max: 0xffff });
const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
const name = fc
  .array(label, { maxLength: 3 })
  .map((labels) =>
    Buffer.concat([
      ...labels.map((bytes) => Buffer.concat([Buffer.from([bytes.length]), bytes])),
      Buffer.from([0]),
    ]),
  );
const question = fc
  .tuple(name, fc.integer({ min: 1, max: 0xffff }))
  .filter(([, type]) => type !== recordTypes.ANY)
  .map(([name, type]) => Buffer.concat([name, words(type, 1)]));
const rawRecord = fc
  .tuple(fc.integer({ min: 0, max: 0xffff }), fc.uint8Array({ maxLength: 40 }))
  .filter(([type]) => type !== recordTypes.A && type !== recordTypes.AAAA)
  .map(([type, data]) => record(type, Buffer.from(data)));
const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 });

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, i * 2);
  return bytes;
}

function record(type: number, data: Buffer): Buffer {
  return Buffer.concat([words(0xc00c, type, 1, 0, 60, data.length), data]);
}

function response(
  id: number,
  question: Buffer,
  records: Buffer[],
  tail = Buffer.alloc(0),
  flags = 0x8180,
): Buffer {
  return Buffer.concat([words(id, flags, 1, records.length, 0, 0), question, ...records, tail]);
}

describe('queries', () => {
  it('keep their parts when they are encoded and parsed', () => {
    fc.assert(
      fc.property(id, question, fc.integer({ min: 0, max: 0xffff }), (id, question, udpBytes) => {
        expect(parseQuery(encodeQuery(id, question, udpBytes))).toEqual({
          id,
          question,
          type: question.readUInt16BE(question.length - 4),
          udpBytes,
        });
      }),
    );
  });

  it('of any bytes are parsed, refused or ignored, and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const parsed = parseQuery(Buffer.from(bytes));
        if (parsed && 'refusal' in parsed) expect(encodeRefusal(parsed).length).toBe(12);
      }),
      { numRuns: 2_000 },
    );
  });

  it('with a byte changed, cut off or added never throw, and a parsed question is part of the message', () => {
    fc.assert(
      fc.property(id, question, fc.nat(), fc.nat(255), fc.nat(), (id, question, at, value, cut) => {
        const bytes = encodeQuery(id, question, 1_232);
        bytes[at % bytes.length] = value;
        const parsed = parseQuery(bytes.subarray(0, cut % (bytes.length + 1)));
        if (parsed && 'question' in parsed) expect(bytes.includes(parsed.question)).toBe(true);
        expect(
          parseQuery(Buffer.concat([encodeQuery(id, question, 1_232), Buffer.from([0])])),
        ).toHaveProperty('refusal');
      }),
    );
  });

  it('with compressed names, several questions or records are refused', () => {
    const asked = Buffer.concat([words(0xc00c), words(1, 1)]);
    expect(parseQuery(Buffer.concat([words(1, 0x100, 1, 0, 0, 0), asked]))).toEqual({ id: 1, refusal: 1 });
    expect(parseQuery(words(1, 0x100, 2, 0, 0, 0))).toEqual({ id: 1, refusal: 1 });
    expect(parseQuery(words(1, 0x100, 1, 1, 0, 0))).toEqual({ id: 1, refusal: 1 });
    expect(parseQuery(words(1, 0x8100, 1, 0, 0, 0))).toBeNull();
  });
});

describe('answers', () => {
  it('of any bytes after the question never throw', () => {
    fc.assert(
      fc.property(id, question, fc.uint8Array({ maxLength: 120 }), fc.nat(9), (id, question, tail, count) => {
        const message = Buffer.concat([words(id, 0x8180, 1, count, 0, 0), question, tail]);
        const answer = parseAnswer(message, id, question);
        if (answer) expect(answer.records.length).toBeLessThanOrEqual(tail.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('show every address, wherever it stands among other records', () => {
    fc.assert(
      fc.property(
        id,
        question,
        fc.array(rawRecord, { maxLength: 5 }),
        fc.array(rawRecord, { maxLength: 5 }),
        ipv4,
        (id, question, before, after, address) => {
          const records = [...before, record(recordTypes.A, Buffer.from(address)), ...after];
          const answer = parseAnswer(response(id, question, records), id, question);
          expect(answer?.ipv4).toEqual([address.join('.')]);
          expect(answer?.count).toBe(records.length);
        },
      ),
    );
  });

  it('are handed on without what follows the answer section', () => {
    fc.assert(
      fc.property(
        id,
        id,
        question,
        fc.array(rawRecord, { maxLength: 5 }),
        fc.uint8Array(),
        (id, other, question, records, tail) => {
          const answer = parseAnswer(
            response(id, question, records, Buffer.from(tail)),
            id,
            question,
          ) as Answer;
          const asked: Question = { id: other, question, type: 1, udpBytes: null };
          const handedOn = encodeAnswer(asked, answer, 0xffff);
          expect(handedOn).toEqual(response(other, question, records));
          expect(encodeAnswer({ ...asked, udpBytes: 1_232 }, answer, 0xffff).length).toBe(
            handedOn.length + 11,
          );
        },
      ),
    );
  });

  it('go out empty and marked when they are too long for the asker, never over its limit', () => {
    fc.assert(
      fc.property(
        question,
        fc.array(rawRecord, { maxLength: 40 }),
        fc.option(id),
        (question, records, udpBytes) => {
          const answer = parseAnswer(response(1, question, records), 1, question) as Answer;
          const asked: Question = { id: 1, question, type: 1, udpBytes };
          const limit = udpLimit(asked, 1_232);
          expect(encodeAnswer(asked, answer, limit).length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });

  it('to another question, under another id, or cut short are not taken', () => {
    fc.assert(
      fc.property(
        id,
        question,
        question,
        fc.array(rawRecord, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (id, question, other, records, cut) => {
          const message = response(id, question, records);
          expect(parseAnswer(message, id ^ 1, question)).toBeNull();
          fc.pre(question.toString('latin1').toLowerCase() !== other.toString('latin1').toLowerCase());
          expect(parseAnswer(message, id, other)).toBeNull();
          expect(parseAnswer(message.subarray(0, cut % message.length), id, question)).toBeNull();
          expect(
            parseAnswer(response(id, question, records, Buffer.alloc(0), 0x0180), id, question),
          ).toBeNull();
        },
      ),
    );
  });

  it('are not taken when their names point forward, or their addresses have other lengths', () => {
    const asked = Buffer.concat([Buffer.from([1, 97, 0]), words(1, 1)]);
    expect(parseAnswer(response(1, asked, [record(1, Buffer.alloc(5))]), 1, asked)).toBeNull();
    const forward = Buffer.concat([words(0xc0ff, 1, 1, 0, 60, 4), Buffer.alloc(4)]);
    expect(parseAnswer(response(1, asked, [forward]), 1, asked)).toBeNull();
  });
});

describe('public addresses', () => {
  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ])('%s is none', (address) => expect(isPublicIPv4(address)).toBe(false));

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.128.0.0',
    '172.32.0.1',
    '203.0.113.80',
    '223.255.255.255',
  ])('%s is one', (address) => expect(isPublicIPv4(address)).toBe(true));

  it('IPv6 ones never embed or are private ones', () => {
    for (const address of [
      '::1',
      '::',
      '::ffff:10.0.0.1',
      'fd00::1',
      'fe80::1',
      'fec0::1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      'ff02::1',
    ]) {
      expect([address, isPublicIPv6(address)]).toEqual([address, false]);
    }
    expect(isPublicIPv6('2606:4700::1111')).toBe(true);
  });
});

describe('resolv.conf', () => {
  it('is read as the C library reads it', () => {
    const text =
      '# a\nnameserver 127.0.0.53\n  nameserver\t::1 \nnameserver nonsense\nnameserver fe80::1%eth0\nnameserver 9.9.9.9\n';
    expect(parseResolvConf(text)).toEqual(['127.0.0.53', '::1', 'fe80::1%eth0']);
    expect(parseResolvConf('search example.org\n')).toEqual(['127.0.0.1']);
  });
});
