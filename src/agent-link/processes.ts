/** Agent operations that run interactive programs. */
import type { AgentProcesses } from '../control/ports/index.ts';
import type { OpenChannel } from './exchange.ts';
import { openRunningProcess, sizeOf } from './running-process.ts';

export function processesOf(openChannel: OpenChannel): AgentProcesses {
  return {
    openProcess: (id, { argv, cwd, env, terminal }, signal) => {
      const size = terminal && sizeOf(terminal);
      return openRunningProcess(
        openChannel,
        id,
        { v: 2, op: 'process', argv, cwd, env, terminal: size },
        signal,
      );
    },
    openSftp: (id, signal) => openRunningProcess(openChannel, id, { v: 2, op: 'sftp' }, signal),
  };
}
