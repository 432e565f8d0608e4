import { describe, expect, it } from 'vitest';
import type { Call } from '../../bench/upgrade/load.ts';
import { figuresOf } from '../../bench/upgrade/report.ts';

/** SIGTERM at 1,000 ms, and the older process ends 400 ms later. */
const replacement = { terminated: 1_000, ended: 1_400, ready: 1_900 };

function call(begun: number, ended: number, failure: string | null = null): Call {
  return { tool: 'ReadFile', retries: 'none', begun, ended, failure };
}

const whole = [
  call(900, 950),
  call(990, 1_100),
  call(1_200, 1_210, 'unavailable ECONNREFUSED'),
  call(1_290, 1_310, 'unavailable ECONNREFUSED'),
  call(1_320, 1_330, 'unavailable UND_ERR_SOCKET'),
  call(1_980, 2_000),
  call(2_010, 2_020),
];

describe('the figures of a replacement', () => {
  it('take the first good answer after the end of the older process', () => {
    expect(figuresOf(whole, replacement)).toMatchObject({ ended: 0.4, answered: 1, silence: [0.1, 1] });
  });

  it('count calls before, in and after the restart', () => {
    expect(figuresOf(whole, replacement).counts.none).toEqual({
      ...{ before: 1, restart: 5, after: 1, failed: 3, slowest: 0.11 },
    });
  });

  it('put failures into tenths of a second since SIGTERM, with their reasons', () => {
    expect(figuresOf(whole, replacement).buckets).toEqual([
      { from: 0.2, failed: { none: 1, default: 0 }, reasons: new Map([['unavailable ECONNREFUSED', 1]]) },
      {
        from: 0.3,
        failed: { none: 2, default: 0 },
        reasons: new Map([
          ['unavailable ECONNREFUSED', 1],
          ['unavailable UND_ERR_SOCKET', 1],
        ]),
      },
    ]);
    expect(figuresOf(whole, replacement).outside).toEqual([]);
  });

  it('name calls that failed before SIGTERM, or began after the first good answer', () => {
    const calls = [call(940, 960, 'timeout'), ...whole, call(2_100, 2_500, 'internal')];
    expect(figuresOf(calls, replacement).outside).toEqual([
      'ReadFile at -0.04 s: timeout',
      'ReadFile at 1.50 s: internal',
    ]);
  });

  it('are none without a good answer of the newer service', () => {
    expect(() => figuresOf(whole.slice(0, 5), replacement)).toThrow(
      'no call succeeded after the replacement',
    );
  });
});
