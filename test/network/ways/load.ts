/**
 * A sandbox that tries without end what its rules allow and what they refuse, each time with a note of where that is meant to
 * go. Run by drive.ts in its network namespace, with the gateway's address as `gateway` of each call.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { obey } from '../../egress/support/driver.ts';
import { extension, hello, question, readAnswer, types } from '../../egress/support/messages.ts';

export interface Try {
  /** Name to resolve first; null goes to the address at once. */
  resolve: string | null;
  address: string;
  port: number;
  /** Server name of a hello, or Host of a request. */
  name: string;
  isAllowed: boolean;
}

export interface Tally {
  passed: number;
  stopped: number;
  /** Refused ones that a server answered. */
  leaked: number;
}

const TIMEOUT_MS = 300;
const PAUSE_MS = 50;
let isRunning = false;
let running: Promise<unknown> = Promise.resolve();
let tally: Tally = { passed: 0, stopped: 0, leaked: 0 };

/** Returns true when the answer of a server came. */
async function attempt(
  gateway: string,
  { resolve, address, port, name, isAllowed }: Try,
  timeoutMs = TIMEOUT_MS,
): Promise<boolean> {
  if (resolve !== null && !(await resolved(gateway, resolve, timeoutMs)).includes(address)) return false;
  const note = isAllowed ? `to=${address}:${port};` : 'REFUSED';
  const bytes =
    port === 443
      ? hello([name], extension(0xfafa, Buffer.from(note)))
      : `GET /${note} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
  const socket = connect({ host: address, port });
  const answered = new Promise<boolean>((settle) => {
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (text.includes(note)) settle(true);
    });
    socket.on('error', () => settle(false)).on('close', () => settle(false));
    socket.setTimeout(timeoutMs, () => settle(false));
  });
  socket.write(bytes);
  const isAnswered = await answered;
  socket.destroy();
  return isAnswered;
}

async function resolved(gateway: string, name: string, timeoutMs: number): Promise<string[]> {
  const socket = createSocket('udp4').on('error', () => {});
  try {
    socket.send(question(name, types.A), 53, gateway);
    const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    return readAnswer(answer).addresses;
  } catch {
    return [];
  } finally {
    socket.close();
  }
}

async function goOn(gateway: string, tries: Try[], first: number): Promise<void> {
  for (let at = first; isRunning; at++) {
    const one = tries[at % tries.length] as Try;
    const isAnswered = await attempt(gateway, one);
    if (!isAnswered) tally.stopped++;
    else if (one.isAllowed) tally.passed++;
    else tally.leaked++;
    // Below the bounds of new connections and of questions.
    await sleep(PAUSE_MS);
  }
}

obey({
  /** Gives up soon, for a caller that tries again. */
  attempt: ({ gateway, one }: { gateway: string; one: Try }) => attempt(gateway, one, 100),
  start: ({ gateway, tries, atOnce }: { gateway: string; tries: Try[]; atOnce: number }) => {
    isRunning = true;
    tally = { passed: 0, stopped: 0, leaked: 0 };
    running = Promise.all(Array.from({ length: atOnce }, (_, first) => goOn(gateway, tries, first)));
  },
  tally: () => tally,
  stop: async () => {
    isRunning = false;
    await running;
    return tally;
  },
});
