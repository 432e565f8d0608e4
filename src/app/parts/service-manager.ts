/**
 * Messages to the service manager that started the service (systemd, sd_notify(3)): it serves, it stops, it lives. The
 * event loop itself sends the signs of life, so one that hangs is noticed.
 *
 * Node has no datagram sockets of the local family; a helper with one sends for it, and starts once.
 */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Log } from '../../control/ports/index.ts';
import { type StartedProgram, startProgram } from '../../runtime/start-program.ts';
import { NATIVE } from '../engine/installed.ts';
import type { KeptSocket } from './kept-sockets.ts';

export interface ManagerAddress {
  /** Path, or a name that begins with @. */
  socket: string;
  /** The manager replaces a service without a sign of life for so long; null when it does not watch. */
  watchdogMs: number | null;
}

export interface ServiceManager {
  ready(status: string): void;
  stopping(): void;
  close(): void;
}

const LAUNCHER = join(NATIVE, 'sandhaven-launcher');
/** Signs of life in the time that the manager waits for one. */
const SIGNS = 3;
/** Without a manager. */
export const nobody: ServiceManager = { ready() {}, stopping() {}, close() {} };

/** Returns the manager that the environment names; null without one. */
export function managerOf(env: Record<string, string | undefined>): ManagerAddress | null {
  const socket = env['NOTIFY_SOCKET'];
  if (!socket || !/^[/@]/.test(socket)) return null;
  const microseconds = Number(env['WATCHDOG_USEC']);
  const { WATCHDOG_PID: watched } = env;
  const isOurs = watched === undefined || Number(watched) === process.pid;
  return { socket, watchdogMs: isOurs && microseconds > 0 ? microseconds / 1_000 : null };
}

/**
 * A service without its helper serves all the same, though a manager may give up on it: the log has the reason.
 * @param sockets Those that the manager is to keep, and names of those that it is to close.
 */
export async function connectManager(
  address: ManagerAddress | null,
  sockets: { keep: readonly KeptSocket[]; forget: readonly string[] },
  log: Log,
): Promise<ServiceManager> {
  if (address === null) return nobody;
  try {
    const helper = await openHelper(address.socket, sockets.keep, log);
    return speakThrough(helper, sockets.forget, address.watchdogMs);
  } catch (error) {
    log.warn('the service manager cannot be reached', { error });
    return nobody;
  }
}

function speakThrough(
  helper: StartedProgram<Writable>,
  forget: readonly string[],
  watchdogMs: number | null,
): ServiceManager {
  let signs: NodeJS.Timeout | undefined;
  const send = (...lines: string[]): void => {
    if (helper.stdin.writable) helper.stdin.write(`${lines.join('\n')}\0`);
  };
  for (const name of forget) send('FDSTOREREMOVE=1', `FDNAME=${name}`);
  return {
    ready(status) {
      send('READY=1', `STATUS=${status}`);
      if (watchdogMs !== null) signs = setInterval(() => send('WATCHDOG=1'), watchdogMs / SIGNS).unref();
    },
    stopping: () => send('STOPPING=1', 'STATUS=Finishes open work'),
    close() {
      clearInterval(signs);
      helper.stdin.end();
    },
  };
}

/** The helper holds nothing open here: it ends with the service. It closes the sockets once the manager has them. */
async function openHelper(
  socket: string,
  keep: readonly KeptSocket[],
  log: Log,
): Promise<StartedProgram<Writable>> {
  const names = keep.map(({ name }) => name);
  const files = keep.map(({ file }) => file);
  const helper = await startProgram(LAUNCHER, ['notify', socket, ...names], { input: true, files });
  helper.stdin.on('error', () => {});
  helper.stdout.resume();
  helper.stderr.on('data', (text: Buffer) => log.warn('the service manager', { said: String(text).trim() }));
  helper.once('exit', (status) => {
    if (status !== 0) log.warn('the helper that speaks to the service manager has ended', { status });
  });
  helper.unref();
  for (const stream of [helper.stdin, helper.stdout, helper.stderr]) {
    (stream as unknown as { unref(): void }).unref();
  }
  return helper;
}
