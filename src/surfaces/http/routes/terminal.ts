/**
 * GET /v1/sandboxes/{sandbox}/terminal, upgraded to a WebSocket: a viewer of a terminal, which goes on when the viewer
 * leaves. All that can be refused is refused before the upgrade.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { asUser, sandbox, terminalId } from '../../../catalog/parameters/sandbox.ts';
import { textWithoutNul } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import type { LookRequest } from '../../../control/work/terminals.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { subjectOf } from '../base/origin.ts';
import { sendProblem } from '../base/problem.ts';
import type { Upgrades } from '../base/upgrades.ts';
import { TerminalViewer, TerminalViewers } from './terminal-viewers.ts';

const PROTOCOL = 'websocket';
const VERSION = '13';

const number = ({ min, max }: { min: number; max: number }) =>
  z
    .string()
    .regex(/^\d{1,7}$/, `must be ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const target = z.strictObject({
  sandbox,
  terminal: terminalId().default('main'),
  cols: number(limits.terminal.columns).optional(),
  rows: number(limits.terminal.rows).optional(),
  window: number(limits.terminal.windowBytes).optional(),
  create: z.enum(['true', 'false']).default('true'),
  /** Read by `authenticate`: a browser's WebSocket has no header for it. */
  team: z.string().max(limits.userEmailChars).optional(),
  cwd: textWithoutNul().min(1).max(limits.pathBytes).optional(),
  user: asUser,
});

type Parts = Pick<Services, 'terminals' | 'audit' | 'identity' | 'metrics'>;

export function addTerminalRoute(app: FastifyInstance, upgrades: Upgrades, services: Parts, log: Log): void {
  const viewers = new TerminalViewers();
  services.metrics.loads.watch('terminals', viewers.load);
  // The server no longer tracks upgraded connections, yet would wait for them for ever.
  app.addHook('preClose', () => viewers.endAll());
  const url = '/v1/sandboxes/:sandbox/terminal';
  // `brief`: it ends with its key too, but with a reason.
  const options = { exposeHeadRoute: false, config: { brief: true, endless: true } };
  app.get(url, options, async (request, reply) => {
    const query = validateInput(target, { ...(request.query as object), ...(request.params as object) });
    const early = upgrades.earlyBytesOf(request.raw, PROTOCOL);
    if (early === null) {
      // A browser shows the cause of no refused WebSocket: its page asks for it by a plain request.
      assertScope(request.caller, 'sandboxes:write');
      viewers.take(request.caller.id)();
      return refusePlain(request, reply);
    }
    assertHandshake(request.raw);
    const look = lookOf(query);
    const viewer = new TerminalViewer(request, reply, early, log);
    reply.raw.once(
      'close',
      services.identity.whileValid(request.caller, () => viewer.keyEnded()),
    );
    const subject = subjectOf(request, auditActions.terminalOpen, viewer.gone);
    const visit = services.audit.visit(subject, auditActions.terminalClose, async (begun) => {
      assertScope(request.caller, 'sandboxes:write');
      reply.raw.once('close', viewers.take(request.caller.id));
      await services.terminals.look(
        request.caller,
        query.sandbox,
        look,
        async (view) => {
          begun();
          await viewers.carry(viewer, view, look.terminalId, query.window ?? null);
        },
        viewer.gone,
      );
    });
    await viewers.during(visit.catch((error: unknown) => viewer.fail(error)));
    return reply;
  });
}

function lookOf({ terminal, cols, rows, create, cwd, user }: z.output<typeof target>): LookRequest {
  if ((cols === undefined) !== (rows === undefined)) {
    throw invalidArgument(
      cols === undefined ? 'cols' : 'rows',
      'cols and rows go together.',
      'Give both or none.',
    );
  }
  const size = cols === undefined || rows === undefined ? null : { columns: cols, rows };
  return {
    terminalId: terminal,
    user,
    size,
    create: create === 'true',
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** Refuses what `ws` would refuse in words of its own. */
function assertHandshake({ headers }: IncomingMessage): void {
  const hint = 'Use a WebSocket client of RFC 6455.';
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) {
    throw invalidArgument('Sec-WebSocket-Key', 'The handshake has no valid Sec-WebSocket-Key.', hint);
  }
  if (headers['sec-websocket-version'] !== VERSION) {
    throw invalidArgument('Sec-WebSocket-Version', `The version of a WebSocket must be ${VERSION}.`, hint);
  }
}

/** Uses status 426, HTTP's own for this case, which the table of codes has no other use for. */
function refusePlain(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = invalidArgument(
    'Upgrade',
    'A terminal is no plain request.',
    'Open it with a WebSocket client, or use `sandhaven attach`.',
  );
  request.outcome = error.code;
  reply.header('upgrade', PROTOCOL).header('connection', 'upgrade, close');
  reply.header('sec-websocket-version', VERSION);
  return sendProblem(reply, { ...toProblem(error, request.id), status: 426, title: 'Upgrade required' });
}
