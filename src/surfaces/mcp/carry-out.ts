/** Carries out calls of one client in this process, counts them and logs them. */
import { callTool } from '../../catalog/call.ts';
import type { Log } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import { type AnswerHold, collecting } from '../../fairness/answer-room.ts';
import { type ErrorCode, isDefect, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import type { Caller } from '../../model/user.ts';
import type { CarryOut } from './server.ts';

export interface CallOrigin {
  caller: Caller;
  /** Null when unknown. */
  address: string | null;
  /** Takes the room of results. */
  hold: AnswerHold;
}

export function carryOutHere(services: Services, log: Log, { caller, address, hold }: CallOrigin): CarryOut {
  const origin = { transport: 'mcp', address } as const;
  return async (tool, parameters, { signal, progress, live }) => {
    const requestId = newRequestId();
    const begun = performance.now();
    const logged = (code: ErrorCode | null) => {
      const ms = Math.round((performance.now() - begun) * 10) / 10;
      const ended = { ...(code ? { code } : {}), ...(signal.aborted ? { aborted: true } : {}), ms };
      log.info('mcp call', { tool: tool.name, ...ended, request_id: requestId, user: caller.id });
    };
    try {
      services.identity.count(caller);
      const context = { caller, services, requestId, origin, signal, progress, live };
      const result = await collecting(hold, () => callTool(tool.name, parameters, context));
      logged(null);
      return { result };
    } catch (error) {
      const problem = toProblem(error, requestId);
      if (isDefect(error, signal.aborted)) log.error('mcp call failed', { request_id: requestId, error });
      logged(problem.code);
      return { problem };
    }
  };
}
