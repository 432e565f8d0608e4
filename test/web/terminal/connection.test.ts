/** A viewer's connection to a terminal, over WebSockets that the test opens, fills and closes. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connection, connect } from '../support/connection.ts';

class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  readyState = 0;
  bufferedAmount = 0;
  binaryType = 'blob';
  readonly sent: unknown[] = [];

  constructor() {
    super();
    sockets.push(this);
  }

  open(): void {
    this.readyState = FakeSocket.OPEN;
  }

  ready(): void {
    const note = { type: 'ready', terminal: 'main', created: false, cols: 80, rows: 24, scrollback_bytes: 0 };
    this.say(JSON.stringify(note));
  }

  say(data: string | ArrayBuffer): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  }

  send(message: string): void {
    this.sent.push(JSON.parse(message));
  }

  close(code = 1_006): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }
}

const sockets: FakeSocket[] = [];
const page = new EventTarget();
let connection: Connection;
let states: string[];
let printed: string[];
let mayConnect: ReturnType<typeof vi.fn<(path: string) => Promise<void>>>;
let exists: ReturnType<typeof vi.fn<() => Promise<boolean>>>;

beforeEach(() => {
  [states, printed] = [[], []];
  vi.useFakeTimers();
  vi.stubGlobal('window', page);
  vi.stubGlobal('location', { origin: 'http://service.example' });
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('WebSocket', FakeSocket);
  exists = vi.fn<() => Promise<boolean>>().mockResolvedValue(true);
  mayConnect = vi.fn<(path: string) => Promise<void>>().mockResolvedValue();
  connection = connect({
    state: ({ name }) => void states.push(name),
    ready: () => {},
    printed: (bytes) => void printed.push(new TextDecoder().decode(bytes)),
    resized: () => {},
    skipped: () => {},
    ...{ exists, mayConnect },
    errorOf: ({ detail }) => new Error(detail),
    size: () => ({ cols: 80, rows: 24 }),
  });
});

afterEach(() => {
  connection.leave();
  sockets.length = 0;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const newest = () => sockets.at(-1) as FakeSocket;

function begin(): void {
  newest().open();
  newest().ready();
}

/** Lets the page ask for the cause, and wait as long as it ever does. */
const waits = () => vi.advanceTimersByTimeAsync(30_000);

describe('what is shown', () => {
  it('is reported by the eighth of a window', () => {
    begin();
    connection.shown(32_767);
    expect(newest().sent).toEqual([]);
    connection.shown(1);
    expect(newest().sent).toEqual([{ type: 'shown', bytes: 32_768 }]);
  });

  it('is not reported on the next connection, which has not sent it', async () => {
    begin();
    newest().close();
    await waits();
    expect(sockets).toHaveLength(2);
    newest().open();
    connection.shown(100_000);
    expect(newest().sent).toEqual([]);
    newest().ready();
    connection.shown(40_000);
    expect(newest().sent).toEqual([{ type: 'shown', bytes: 40_000 }]);
  });
});

describe('a page that is kept for the way back', () => {
  const hide = () => page.dispatchEvent(new Event('pagehide'));
  const comeBack = () => page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));

  it('takes nothing that still comes on the connection that it has left', () => {
    begin();
    const [left] = sockets;
    hide();
    left?.say(new TextEncoder().encode('late').buffer);
    expect(printed).toEqual([]);
  });

  it('makes no connection while it is hidden, and one when it is back', async () => {
    const answer = Promise.withResolvers<boolean>();
    exists.mockReturnValue(answer.promise);
    begin();
    newest().close();
    hide();
    answer.resolve(true);
    await waits();
    expect(sockets).toHaveLength(1);
    comeBack();
    await waits();
    expect(sockets).toHaveLength(2);
  });
});

describe('a connection that does not come about', () => {
  it('is refused with the problem that an ordinary request to its address has', async () => {
    mayConnect.mockRejectedValue(Object.assign(new Error('no viewer'), { retryable: true }));
    newest().close();
    await waits();
    expect(mayConnect.mock.calls).toEqual([
      ['/v1/sandboxes/box/terminal?terminal=main&cols=80&rows=24&create=true&window=262144'],
    ]);
    expect(states).toEqual(['connecting', 'refused']);
    expect(sockets).toHaveLength(1);
  });

  it('is tried again where nothing was refused, and once it was open before', async () => {
    newest().close();
    await waits();
    expect(states).toEqual(['connecting', 'lost', 'connecting']);
    begin();
    exists.mockRejectedValueOnce(Object.assign(new Error('busy'), { retryable: true }));
    newest().close();
    await waits();
    expect(states.slice(3)).toEqual(['open', 'lost', 'connecting']);
    expect(mayConnect).toHaveBeenCalledTimes(1);
  });
});
