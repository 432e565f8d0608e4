/**
 * The API of Daytona's clients, on what every surface calls: control of sandboxes under /daytona/api, work inside one under
 * /daytona/toolbox. A route decodes, calls, encodes; it holds no state and has no rule of its own.
 */
import type { FastifyInstance } from 'fastify';
import { limits } from '../../model/limits.ts';
import { WebSockets } from '../http/base/web-sockets.ts';
import {
  type CallParts,
  CONTROL,
  type DaytonaDependencies,
  type DaytonaRoute,
  TOOLBOX,
  toCall,
} from './base/call.ts';
import { coding, NotHere, sendError } from './base/errors.ts';
import { accessRoutes } from './control/access.ts';
import { configRoutes } from './control/config.ts';
import { createRoutes } from './control/create.ts';
import { listRoutes } from './control/list.ts';
import { sandboxRoutes } from './control/sandboxes.ts';
import { secretRoutes } from './control/secrets.ts';
import { snapshotRoutes } from './control/snapshots.ts';
import { notInControl, notInToolbox } from './not-here.ts';
import { gitCode } from './toolbox/codes.ts';
import { addFileStreams, fileRoutes } from './toolbox/files/index.ts';
import { localRoutes } from './toolbox/git/local.ts';
import { remoteRoutes } from './toolbox/git/remote.ts';
import { executeRoutes } from './toolbox/process/execute.ts';
import { addInterpreterSocket, interpreterRoutes } from './toolbox/process/interpreter.ts';
import { addPtySockets, chooseProtocol, ptyRoutes } from './toolbox/process/pty.ts';
import { addLogRoutes } from './toolbox/process/session-logs.ts';
import { sessionRoutes } from './toolbox/process/sessions.ts';
import { systemRoutes } from './toolbox/process/system.ts';

const controlRoutes: readonly DaytonaRoute[] = [
  ...configRoutes,
  ...createRoutes,
  ...listRoutes,
  ...sandboxRoutes,
  ...accessRoutes,
  ...snapshotRoutes,
  ...secretRoutes,
  ...notInControl,
];

/** By our Git tools, and where none does it, by git's own program. */
const gitRoutes = [...localRoutes, ...remoteRoutes].map((route) => coding(route, gitCode));

const toolboxRoutes: readonly DaytonaRoute[] = [
  ...fileRoutes,
  ...executeRoutes,
  ...sessionRoutes,
  ...ptyRoutes,
  ...interpreterRoutes,
  ...systemRoutes,
  ...gitRoutes,
  ...notInToolbox,
];

export function addDaytonaRoutes(app: FastifyInstance, parts: DaytonaDependencies): void {
  const { log } = parts;
  app.register(async (control) => {
    takeEmptyForms(control);
    control.setErrorHandler((error, request, reply) =>
      sendError(error, request, reply, { source: 'DAYTONA_API', log }),
    );
    for (const route of controlRoutes) add(control, CONTROL, route, parts);
    addRest(control, CONTROL);
  });
  app.register(async (toolbox) => {
    takeEmptyForms(toolbox);
    toolbox.setErrorHandler((error, request, reply) =>
      sendError(error, request, reply, { source: 'DAYTONA_DAEMON', log }),
    );
    for (const route of toolboxRoutes) add(toolbox, `${TOOLBOX}/:sandbox`, route, parts);
    addFileStreams(toolbox, `${TOOLBOX}/:sandbox`, parts);
    addSockets(toolbox, `${TOOLBOX}/:sandbox`, parts);
    addRest(toolbox, TOOLBOX);
  });
}

function add(app: FastifyInstance, root: string, route: DaytonaRoute, parts: CallParts): void {
  const { method, path, status = 200, handler } = route;
  app.route({
    method,
    url: `${root}${path}`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const result = await handler(toCall(request, reply, parts));
      // A reply is a promise too, so one that has carried its answer comes as undefined.
      return reply.sent ? reply : reply.code(status).send(result);
    },
  });
}

/** Clients name a form where a POST has no body. */
function takeEmptyForms(app: FastifyInstance): void {
  const empty = { parseAs: 'string', bodyLimit: 1 } as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', empty, (_request, _body, done) =>
    done(null, {}),
  );
}

/** Terminals, logs of sessions, and code that runs in a context. */
function addSockets(app: FastifyInstance, root: string, parts: DaytonaDependencies): void {
  const sockets = new WebSockets({
    ...parts,
    shares: {
      ...limits.terminal.viewers,
      what: 'terminals, logs of sessions and contexts are already being looked at',
    },
    afterKey: 'Connect again with another key.',
    chooseProtocol,
  });
  addLogRoutes(app, root, { parts, sockets });
  addPtySockets(app, root, { parts, sockets });
  addInterpreterSocket(app, root, { parts, sockets });
}

/** Answers at once for all that is in no table. */
function addRest(app: FastifyInstance, root: string): void {
  app.all(`${root}/*`, async (request) => {
    const [path = ''] = request.url.slice(root.length).split('?');
    throw new NotHere(`This service has no ${request.method} ${path} for Daytona's clients.`);
  });
}
