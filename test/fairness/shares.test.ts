import { describe, expect, it } from 'vitest';
import { Shares } from '../../src/fairness/shares.ts';

const shares = () => new Shares({ total: 5, perOwner: 3, what: 'requests are already in progress' });

describe('shares of a bound', () => {
  it('end at the owner’s part, and leave the rest to others', () => {
    const bound = shares();
    for (let taken = 0; taken < 3; taken++) bound.take('mallory');
    expect(() => bound.take('mallory')).toThrow(
      '3 requests are already in progress for you; your share is 3.',
    );
    expect(() => bound.take('alice')).not.toThrow();
    expect(bound.of('mallory')).toBe(3);
  });

  it('end at the whole, whoever asks', () => {
    const bound = shares();
    for (const owner of ['a', 'a', 'a', 'b', 'b']) bound.take(owner);
    expect(() => bound.take('c')).toThrow('5 requests are already in progress, of 5 for everybody.');
  });

  it('take nothing when they refuse', () => {
    const bound = shares();
    expect(() => bound.take('a', 4)).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));
    expect(bound.total).toBe(0);
    expect(bound.of('a')).toBe(0);
  });

  it('are given back once, however often their release is called', () => {
    const bound = shares();
    const release = bound.take('a', 2);
    bound.take('a');
    release();
    release();
    expect(bound.of('a')).toBe(1);
    expect(bound.total).toBe(1);
  });

  it('are given back in part, and never more than was taken', () => {
    const bound = shares();
    const release = bound.take('a', 3);
    release(1);
    expect([bound.of('a'), bound.total]).toEqual([1, 1]);
    release(2);
    expect([bound.of('a'), bound.total]).toEqual([1, 1]);
    release();
    expect([bound.of('a'), bound.total]).toEqual([0, 0]);
  });
});
