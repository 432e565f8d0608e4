import { describe, expect, it } from 'vitest';
import { parseUpOptions } from '../src/options.ts';

describe('what `sandhaven up` can be told', () => {
  it('[WIRE-UP-04] [WIRE-UP-05] has the documented defaults', () => {
    expect(parseUpOptions([], {})).toEqual({
      listen: { host: '127.0.0.1', port: 7420 },
      dataDir: '/var/lib/sandhaven',
      warmPool: 4,
      imageKeptMinutes: 1_440,
      runtime: 'oci',
      prove: false,
    });
    expect(() =>
      parseUpOptions(
        ['--preview-domain', 'x', '--preview-listen', '127.0.0.1:1', '--ssh-listen', '127.0.0.1:2'],
        {},
      ),
    ).not.toThrow();
  });

  it('[WIRE-UP-03] [WIRE-UP-06] comes by flag or by environment, the flag first', () => {
    const env = { SANDHAVEN_WARM_POOL: '0', SANDHAVEN_LISTEN: '[::1]:80', SANDHAVEN_DATA_DIR: '/d' };
    expect(parseUpOptions([], env)).toMatchObject({
      warmPool: 0,
      listen: { host: '::1', port: 80 },
      dataDir: '/d',
    });
    expect(parseUpOptions(['--warm-pool', '7'], env)).toMatchObject({ warmPool: 7 });
  });

  it.each([
    [['--listen', '7420'], '--listen'],
    [['--listen', 'host:99999'], '--listen'],
    [['--warm-pool', '-1'], 'flags'],
    [['--warm-pool', '101'], '--warm-pool'],
    [['--warm-pool', 'many'], '--warm-pool'],
    [['--image-kept-minutes', '1.5'], '--image-kept-minutes'],
    [['--runtime', 'docker'], '--runtime'],
    [['--nonsense'], 'flags'],
  ])('%j is refused before anything starts', (argv, parameter) => {
    expect(() => parseUpOptions(argv, {})).toThrow(
      expect.objectContaining({ code: 'invalid_argument', fields: expect.objectContaining({ parameter }) }),
    );
  });
});
