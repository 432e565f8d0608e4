/** Call rate of each key. */
import { expect, it } from 'vitest';
import { Rates } from '../../../src/control/callers/rates.ts';

const MOST_BUCKETS = 10_000;

function ratesOf(perSecond: number, burst: number) {
  const time = { now: 0 };
  const rates = new Rates({ perSecond, burst }, { now: () => time.now });
  return { time, count: (keyId = 'key_1') => rates.count({ keyId }) };
}

it('a key has its burst at once, then so many calls a second', () => {
  const { time, count } = ratesOf(2, 3);
  for (let call = 0; call < 3; call++) count();
  expect(() => count()).toThrow(
    expect.objectContaining({
      code: 'resource_exhausted',
      message: 'The rate limit of this key is 2 calls a second, 3 at once, and it is reached.',
      fields: expect.objectContaining({ retryable: true, retry_after_seconds: 1 }),
    }),
  );
  time.now = 499;
  expect(() => count()).toThrow('is reached');
  time.now = 500;
  count();
  expect(() => count()).toThrow('is reached');
});

it('the time to wait is in whole seconds, and long enough', () => {
  const { time, count } = ratesOf(0.25, 1);
  count();
  time.now = 500;
  expect(() => count()).toThrow(
    expect.objectContaining({ fields: expect.objectContaining({ retry_after_seconds: 4 }) }),
  );
  time.now = 3_500;
  expect(() => count()).toThrow(
    expect.objectContaining({ fields: expect.objectContaining({ retry_after_seconds: 1 }) }),
  );
});

it('a key takes nothing from another', () => {
  const { count } = ratesOf(1, 1);
  count('key_1');
  count('key_2');
  expect(() => count('key_1')).toThrow('is reached');
});

it('without a rate every call counts as the first', () => {
  const rates = new Rates(null, { now: () => 0 });
  for (let call = 0; call < 100; call++) rates.count({ keyId: 'key_1' });
});

it('no key gets its burst back because there are many others', () => {
  const { count } = ratesOf(1, 1);
  count('key_1');
  for (let other = 0; other <= MOST_BUCKETS; other++) count(`other_${other}`);
  expect(() => count('key_1')).toThrow('is reached');
});
