/** Opens the WebSocket of a terminal, over the service's API. */
import { WebSocket } from 'ws';
import { type Problem, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { type Connection, headersOf, unreachable } from '../connection.ts';
import { problemOf } from '../tunnel-client.ts';

export interface TerminalTarget {
  sandbox: string;
  terminal: string;
  size: { columns: number; rows: number } | null;
  user?: string | undefined;
  cwd?: string | undefined;
}

export type TerminalOutcome = { socket: WebSocket; problem?: never } | { problem: Problem; socket?: never };

/**
 * Rejects only on abort: an unreachable service is a problem like any other. `listen` gets the socket before its first
 * message.
 */
export function openTerminal(
  connection: Connection,
  target: TerminalTarget,
  listen: (socket: WebSocket) => void,
  signal: AbortSignal,
): Promise<TerminalOutcome> {
  const { url } = connection;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(addressOf(url, target), {
      headers: headersOf(connection),
      handshakeTimeout: limits.terminal.handshakeMs,
      closeTimeout: limits.terminal.farewellMs,
      perMessageDeflate: false,
      maxPayload: limits.agentDataFrameBytes,
    });
    const cancel = () => socket.terminate();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', cancel);
      if (signal.aborted) reject(signal.reason);
      else resolve({ problem: toProblem(unreachable(url, error), newRequestId()) });
    };
    socket.on('error', fail);
    socket.on('unexpected-response', (request, response) => {
      problemOf(response)
        .then((problem) => resolve({ problem }), fail)
        .finally(() => request.destroy());
    });
    socket.on('open', () => {
      // The caller owns the connection after this.
      signal.removeEventListener('abort', cancel);
      resolve({ socket });
    });
    listen(socket);
  });
}

function addressOf(url: string, { sandbox, terminal, size, user, cwd }: TerminalTarget): URL {
  const address = new URL(`${url}/v1/sandboxes/${encodeURIComponent(sandbox)}/terminal`);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.searchParams.set('terminal', terminal);
  if (size) address.searchParams.set('cols', String(size.columns));
  if (size) address.searchParams.set('rows', String(size.rows));
  if (user !== undefined) address.searchParams.set('user', user);
  if (cwd !== undefined) address.searchParams.set('cwd', cwd);
  return address;
}
