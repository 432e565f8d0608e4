/** Programs that run while the host talks with them. */
import type { AgentProcesses } from '../control/ports.ts';
import type { OpenChannel } from './exchange.ts';

export function processesOf(_openChannel: OpenChannel): AgentProcesses {
  return {} as never;
}
