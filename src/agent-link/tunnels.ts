/** Agent operations for connections to and from the sandbox's own loopback. */
import type { AgentTunnels } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Ask, tooSlow } from './call.ts';
import type { OpenChannel } from './exchange.ts';
import { openListener } from './port-listener.ts';
import { portsReply } from './replies.ts';
import { openTunnel } from './tunnel-stream.ts';

export function tunnelsOf(openChannel: OpenChannel, ask: Ask): AgentTunnels {
  return {
    connectPort: (id, port, signal, host) =>
      openTunnel(openChannel, id, { v: 2, op: 'tcp', port, ...(host === undefined ? {} : { host }) }, signal),
    listenPort: (id, request, onConnection, signal) =>
      openListener(openChannel, id, request, onConnection, signal),
    ports: (id, signal) =>
      ask(
        id,
        {
          request: { v: 2, op: 'ports' },
          signal,
          timeoutMs: limits.fileOperationMs,
          timeoutError: tooSlow,
          reply: portsReply,
        },
        ({ reply }) =>
          reply.ports.map(({ port, name, pid = null, command = null }) => ({ port, name, pid, command })),
      ),
  };
}
