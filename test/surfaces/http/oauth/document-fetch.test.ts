/** The fetch of clients' documents by itself: its bounds of time and number, and the addresses that it refuses. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { abortRace } from '../../../../src/concurrency/deadline.ts';
import { createExit } from '../../../../src/outbound/exit.ts';
import { createDocumentFetch } from '../../../../src/surfaces/http/oauth/client-documents.ts';

const URL_OF_APP = 'https://app.example/client.json';

/** As a name server that never answers. */
const silence = (_host: string, signal = new AbortController().signal) =>
  abortRace(new Promise<never>(() => {}), signal);

/** A fetch whose resolver never answers, and how it ends. */
function stuck() {
  const fetchDocument = createDocumentFetch({ exit: createExit({ askServers: silence }) });
  return (network: string, signal?: AbortSignal): Promise<{ name: string; message: string; code?: string }> =>
    fetchDocument(URL_OF_APP, signal && { signal }, network).then(
      () => ({ name: 'none', message: '' }),
      (error) => error,
    );
}

describe('documents whose host is looked up without an answer', () => {
  it('are given up after 2.5 s', async () => {
    const after = AbortSignal.timeout.bind(AbortSignal);
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => after(ms / 100));
    onTestFinished(() => timeout.mockRestore());
    expect(await stuck()('192.0.2')).toMatchObject({ name: 'TimeoutError' });
    expect(timeout.mock.calls).toEqual([[2_500]]);
  });

  it('are given up with the request, and leave their places', async () => {
    const fetchDocument = stuck();
    for (let count = 0; count < 40; count++) {
      const over = new AbortController();
      const ended = fetchDocument('192.0.2', over.signal);
      over.abort(new Error('over'));
      expect((await ended).message).toBe('over');
    }
  });
});

describe('documents at once', () => {
  it('[LIMIT] are four of one network, which keeps no other out', async () => {
    const fetchDocument = stuck();
    const over = new AbortController();
    const held = Array.from({ length: 4 }, () => fetchDocument('192.0.2', over.signal));
    expect(await fetchDocument('192.0.2')).toMatchObject({
      code: 'resource_exhausted',
      message: '4 descriptions of applications are being fetched for you; your share is 4.',
    });
    const other = fetchDocument('198.51.100', over.signal);
    over.abort(new Error('over'));
    expect((await Promise.all([...held, other])).map(({ message }) => message)).toEqual(
      Array(5).fill('over'),
    );
  });

  it('[LIMIT] are sixteen of all networks', async () => {
    const fetchDocument = stuck();
    const over = new AbortController();
    const held = Array.from({ length: 16 }, (_, at) => fetchDocument(`192.0.${at % 4}`, over.signal));
    expect(await fetchDocument('198.51.100')).toMatchObject({
      code: 'resource_exhausted',
      message: '16 descriptions of applications are being fetched, of 16 for everybody.',
    });
    over.abort();
    await Promise.all(held);
  });
});

describe('a document is refused before anything is connected to', () => {
  it.each([
    'https://localhost/client.json',
    'https://127.0.0.1/client.json',
    'https://2130706433/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://[fd00::1]/client.json',
    'https://0.0.0.0/client.json',
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'http://app.example/client.json',
    'https://user:password@app.example/client.json',
  ])('at %s', async (url) => {
    await expect(createDocumentFetch({ exit: createExit() })(url, undefined, '192.0.2')).rejects.toThrow(
      'documents of clients are fetched from public https addresses only',
    );
  });

  it('where one address of its name is private', async () => {
    const addresses = [
      { address: '10.0.0.1', family: 4 },
      { address: '93.184.215.14', family: 4 },
    ];
    const fetchDocument = createDocumentFetch({ exit: createExit({ askServers: async () => addresses }) });
    await expect(fetchDocument(URL_OF_APP, undefined, '192.0.2')).rejects.toThrow(
      'documents of clients are fetched from public https addresses only',
    );
  });
});
