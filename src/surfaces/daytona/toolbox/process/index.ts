/** Processes of a sandbox, its sessions and terminals, and what it uses. */
import type { FastifyInstance } from 'fastify';
import { limits } from '../../../../model/limits.ts';
import { WebSockets } from '../../../http/base/web-sockets.ts';
import type { DaytonaDependencies, DaytonaRoute } from '../../base/route.ts';
import { execute, runCode } from './execute.ts';
import { notHereRoutes } from './not-here.ts';
import { addPtySockets, chooseProtocol, ptyRoutes } from './pty.ts';
import { addLogRoutes } from './session-logs.ts';
import { sessionRoutes } from './sessions.ts';
import { systemRoutes } from './system.ts';

export const processRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: '/process/execute', handler: execute },
  { method: 'POST', path: '/process/code-run', handler: runCode },
  ...sessionRoutes,
  ...ptyRoutes,
  ...systemRoutes,
  ...notHereRoutes,
];

export function addProcessStreams(app: FastifyInstance, root: string, parts: DaytonaDependencies): void {
  const sockets = new WebSockets({
    ...parts,
    shares: {
      ...limits.terminal.viewers,
      what: 'terminals and logs of sessions are already being looked at',
    },
    afterKey: 'Connect again with another key.',
    chooseProtocol,
  });
  addLogRoutes(app, root, { parts, sockets });
  addPtySockets(app, root, { parts, sockets });
}
