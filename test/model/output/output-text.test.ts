/** Output of programs as text: characters whole, however pieces cut them, and gaps counted. */
import { expect, it } from 'vitest';
import { OutputText } from '../../../src/model/output-text.ts';

const euro = Buffer.from('€');

function textOf(pieces: [stream: 'stdout' | 'stderr', bytes: Buffer | string, leftOutBytes?: number][]) {
  const decoded = new OutputText();
  const texts = pieces.map(([stream, bytes, leftOutBytes = 0]) =>
    decoded.of({ stream, bytes: Buffer.from(bytes), leftOutBytes }),
  );
  return [...texts, decoded.restOf('stdout'), decoded.restOf('stderr')]
    .filter(({ text, leftOutBytes }) => text !== '' || leftOutBytes > 0)
    .map(({ text, leftOutBytes }) => [text, leftOutBytes]);
}

it('has whole characters, each stream by itself', () => {
  const pieces = textOf([
    ['stdout', euro.subarray(0, 1)],
    ['stderr', 'e'],
    ['stdout', euro.subarray(1, 2)],
    ['stdout', Buffer.concat([euro.subarray(2), Buffer.from('x')])],
  ]);
  expect(pieces).toEqual([
    ['e', 0],
    ['€x', 0],
  ]);
});

it('counts a character with a gap in it as left out', () => {
  const pieces = textOf([
    ['stdout', Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)])],
    ['stdout', Buffer.concat([euro.subarray(2), Buffer.from('b')]), 100],
  ]);
  expect(pieces).toEqual([
    ['a', 0],
    ['b', 103],
  ]);
});

it('ends as its stream does, in the middle of a character or after a gap', () => {
  const pieces = textOf([
    ['stdout', Buffer.from([0xe2, 0x82])],
    ['stderr', '', 9],
  ]);
  expect(pieces).toEqual([
    ['\u{fffd}', 0],
    ['', 9],
  ]);
});

it('keeps a byte order mark', () => {
  expect(textOf([['stdout', '\u{feff}a']])).toEqual([['\u{feff}a', 0]]);
});
