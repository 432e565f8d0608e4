/** Quantities, CSV and pairs of the page, as people read and write them. */
import { describe, expect, it } from 'vitest';
import { parseCsv, writeCsv } from '../../web/src/format/csv.ts';
import { readPairs, writePairs } from '../../web/src/format/pairs.ts';
import { counted, formatAway, formatBytes, formatMinutes, formatMs } from '../../web/src/format/quantity.ts';

describe('bytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1024, '1 KB'],
    [1000, '0.98 KB'],
    [1_234_567, '1.18 MB'],
    [20 * 1024 ** 3, '20 GB'],
    [412_000_000, '393 MB'],
  ])('%d are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe('times', () => {
  it.each([
    [0.2, 'under 1 min'],
    [59, '59 min'],
    [60, '1 h'],
    [125, '2 h 5 min'],
    [1440, '1 d'],
    [10_080 + 90, '7 d 1 h'],
  ])('%d minutes are %s', (minutes, text) => expect(formatMinutes(minutes)).toBe(text));

  it.each([
    [0.25, '0.3 ms'],
    [41.6, '42 ms'],
    [1500, '1.5 s'],
    [61_000, '1 min'],
  ])('%d ms are %s', (ms, text) => expect(formatMs(ms)).toBe(text));

  it('are shown by their distance', () => {
    const now = Date.parse('2026-01-01T12:00:00Z');
    expect(formatAway('2026-01-01T12:00:30Z', now)).toBe('now');
    expect(formatAway('2026-01-01T11:30:00Z', now)).toBe('30 min ago');
    expect(formatAway('2026-01-01T14:59:00Z', now)).toBe('in 2 h');
    expect(formatAway('2025-12-29T11:00:00Z', now)).toBe('3 d ago');
  });
});

describe('counts', () => {
  it('have their plural', () => {
    expect(counted(1, 'file')).toBe('1 file');
    expect(counted(5000, 'sandbox', 'sandboxes')).toBe('5,000 sandboxes');
  });
});

describe('CSV', () => {
  it('is read with quotes, line ends of each kind and empty cells', () => {
    expect(parseCsv('a,b\r\n"x, ""y""\nz",\n,2', 10)).toEqual({
      rows: [
        ['a', 'b'],
        ['x, "y"\nz', ''],
        ['', '2'],
      ],
      cut: false,
    });
  });

  it('is read with the separator that its first line has', () => {
    expect(parseCsv('a;b\n1,5;2', 10).rows).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    expect(parseCsv('a\tb\n1\t2\n', 10).rows).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  it('is cut at the most rows, and ends where a quote stays open', () => {
    expect(parseCsv('1\n2\n3\n', 2)).toEqual({ rows: [['1'], ['2']], cut: true });
    expect(parseCsv('1\n2\n', 2)).toEqual({ rows: [['1'], ['2']], cut: false });
    expect(parseCsv('a\n"open', 5).rows).toEqual([['a'], ['open']]);
    expect(parseCsv('', 5).rows).toEqual([]);
    expect(parseCsv('﻿a', 5).rows).toEqual([['a']]);
  });

  it('is written so that a spreadsheet runs nothing', () => {
    expect(writeCsv([['=cmd()', 'a,"b"', null, 3]])).toBe('\'=cmd(),"a,""b""",,3\r\n');
  });
});

describe('pairs', () => {
  it('are one a line, with everything behind the first sign as the value', () => {
    expect(readPairs('team=ml\n\nurl = a=b ')).toEqual({ pairs: { team: 'ml', url: 'a=b' }, fault: null });
    expect(writePairs({ team: 'ml', draft: '' })).toBe('team=ml\ndraft=');
  });

  it('name the line of a fault', () => {
    expect(readPairs('a=1\nb').fault).toBe('Line 2 is not key=value.');
    expect(readPairs('a=1\na=2').fault).toBe('Line 2 repeats the key a.');
    expect(readPairs('=1').fault).toBe('Line 1 is not key=value.');
  });

  it('may be named like what every object has', () => {
    expect(Object.entries(readPairs('constructor=1').pairs)).toEqual([['constructor', '1']]);
  });
});
