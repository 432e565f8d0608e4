/** Names of the operator are looked up by the system, one at a time for each, and nobody waits for ever. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createOperatorNames, operatorNames } from '../../src/outbound/operator-names.ts';

const found = [{ address: '192.0.2.1', family: 4 }];

afterEach(() => {
  vi.useRealTimers();
});

describe('a name of the operator', () => {
  it('may be in the host’s own file alone', async () => {
    expect((await operatorNames.find('localhost')).map(({ address }) => address)).toContain('127.0.0.1');
  });

  it('has one lookup at a time, whoever wants it', async () => {
    const answers: (() => void)[] = [];
    const asked: string[] = [];
    const names = createOperatorNames((host) => {
      asked.push(host);
      return new Promise((resolve) => answers.push(() => resolve(found)));
    });
    const wanted = [names.find('a'), names.find('a'), names.find('b'), names.find('a')];
    expect(asked).toEqual(['a', 'b']);
    for (const answer of answers) answer();
    expect(await Promise.all(wanted)).toEqual([found, found, found, found]);
    const later = names.find('a');
    expect(asked).toEqual(['a', 'b', 'a']);
    answers[2]?.();
    await later;
  });

  it('is looked up again after a failure', async () => {
    const ask = vi.fn(() => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })));
    const names = createOperatorNames(ask);
    for (let turn = 0; turn < 2; turn++)
      await expect(names.find('a')).rejects.toMatchObject({ reason: 'unknown', code: 'ENOTFOUND' });
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['ENOTFOUND', 'unknown'],
    ['EAI_AGAIN', 'failing'],
    ['EMFILE', 'failing'],
  ])('that fails with %s is %s', async (code, reason) => {
    const names = createOperatorNames(() => Promise.reject(Object.assign(new Error('x'), { code })));
    await expect(names.find('a')).rejects.toMatchObject({ reason });
  });

  it('[LIMIT] frees its caller after 12 s without an answer', async () => {
    vi.useFakeTimers();
    const names = createOperatorNames(() => new Promise<never>(() => {}));
    const ended = names.find('a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(11_999);
    expect(await Promise.race([ended, 'waits'])).toBe('waits');
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({ reason: 'silent', code: 'ETIMEOUT' });
  });

  it('frees its caller with the caller’s signal, and is still looked up once', async () => {
    const ask = vi.fn(() => new Promise<never>(() => {}));
    const names = createOperatorNames(ask);
    for (let turn = 0; turn < 10; turn++) {
      const over = new AbortController();
      const ended = names.find('a', over.signal);
      over.abort(new Error('over'));
      await expect(ended).rejects.toThrow('over');
    }
    expect(ask).toHaveBeenCalledTimes(1);
  });
});

describe('a socket', () => {
  const names = createOperatorNames(async (host) => {
    if (host === 'none') throw Object.assign(new Error('x'), { code: 'ENOTFOUND' });
    return found;
  });
  const asks = (host: string, all: boolean) =>
    new Promise((resolve) => names.lookup(host, { all }, (...given) => resolve(given)));

  it('gets all addresses or the first, as it asks, or the failure', async () => {
    expect(await asks('a', true)).toEqual([null, found]);
    expect(await asks('a', false)).toEqual([null, '192.0.2.1', 4]);
    expect(await asks('none', true)).toMatchObject([{ code: 'ENOTFOUND' }, '']);
  });
});
