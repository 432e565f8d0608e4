/** Connections to and from the sandbox's own loopback. */
import type { AgentTunnels } from '../control/ports.ts';
import type { OpenChannel } from './exchange.ts';

export function tunnelsOf(_openChannel: OpenChannel): AgentTunnels {
  return {} as never;
}
