/** GET /v1/sandboxes/{sandbox}/terminal, upgraded to a WebSocket: a viewer of a terminal, which goes on when the viewer leaves. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { asUser, sandbox, terminalId, terminalSizeOf } from '../../../catalog/parameters/sandbox.ts';
import { textWithoutNul } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import type { LookRequest } from '../../../control/work/terminals.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { sendProblem } from '../base/problem.ts';
import type { Upgrades } from '../base/upgrades.ts';
import { WEBSOCKET_VERSION, WebSockets, webSocketRoute } from '../base/web-sockets.ts';
import { TerminalSocket } from './terminal-socket.ts';

/** A number in a query. */
export const numberWithin = ({ min, max }: { min: number; max: number }) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const target = z.strictObject({
  sandbox,
  terminal: terminalId().default('main'),
  cols: numberWithin(limits.terminal.columns).optional(),
  rows: numberWithin(limits.terminal.rows).optional(),
  window: numberWithin(limits.terminal.windowBytes).optional(),
  create: z.enum(['true', 'false']).default('true'),
  /** Read by `authenticate`: a browser's WebSocket has no header for it. */
  team: z.string().max(limits.userEmailChars).optional(),
  cwd: textWithoutNul().min(1).max(limits.pathBytes).optional(),
  user: asUser,
});

const asked = {
  opened: auditActions.terminalOpen,
  closed: auditActions.terminalClose,
  scope: 'sandboxes:write' as const,
};

type Parts = Pick<Services, 'terminals' | 'audit' | 'identity' | 'metrics'>;

export function addTerminalRoute(app: FastifyInstance, upgrades: Upgrades, services: Parts, log: Log): void {
  const viewers = new WebSockets({
    ...{ upgrades, services, log },
    shares: { ...limits.terminal.viewers, what: 'viewers of terminals are already connected' },
    afterKey: 'Attach again with another key; the terminal goes on.',
  });
  services.metrics.loads.watch('terminals', viewers.load);
  const config = { ...webSocketRoute.config, sandboxTokens: true };
  app.get('/v1/sandboxes/:sandbox/terminal', { ...webSocketRoute, config }, async (request, reply) => {
    const query = validateInput(target, { ...(request.query as object), ...(request.params as object) });
    const { caller } = request;
    if (!viewers.isAskedFor(request)) {
      // A browser shows the cause of no refused WebSocket: its page asks for it by a plain request.
      assertScope(caller, asked.scope);
      viewers.take(caller.id)();
      return refusePlain(request, reply);
    }
    const look = lookOf(query);
    return viewers.serve(request, reply, asked, (visit, begun) =>
      services.terminals.look(
        caller,
        query.sandbox,
        look,
        async (view) => {
          begun();
          const window = query.window ?? Number.POSITIVE_INFINITY;
          const socket = visit.open((connection) => new TerminalSocket(connection, view, request.id, window));
          await socket?.carry(look.terminalId);
        },
        visit.gone,
      ),
    );
  });
}

function lookOf({ terminal, cols, rows, create, cwd, user }: z.output<typeof target>): LookRequest {
  return {
    terminalId: terminal,
    user,
    size: terminalSizeOf({ cols, rows }),
    create: create === 'true',
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** Uses status 426, HTTP's own for this case, which the table of codes has no other use for. */
function refusePlain(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = invalidArgument(
    'Upgrade',
    'A terminal is no plain request.',
    'Open it with a WebSocket client, or use `sandhaven attach`.',
  );
  request.outcome = error.code;
  reply.header('upgrade', 'websocket').header('connection', 'upgrade, close');
  reply.header('sec-websocket-version', WEBSOCKET_VERSION);
  return sendProblem(reply, { ...toProblem(error, request.id), status: 426, title: 'Upgrade required' });
}
