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
import { addBuildLogs, buildLogRoutes } from './control/builds.ts';
import { createRoutes } from './control/create.ts';
import { listRoutes } from './control/list.ts';
import { configRoutes, sandboxRoutes } from './control/sandboxes.ts';
import { secretRoutes } from './control/secrets.ts';
import { snapshotRoutes } from './control/snapshots.ts';
import { addStorage, storageRoutes } from './control/storage.ts';
import { gitCode } from './toolbox/codes.ts';
import { addFileStreams, fileRoutes } from './toolbox/files/index.ts';
import { localRoutes } from './toolbox/git/local.ts';
import { remoteRoutes } from './toolbox/git/remote.ts';
import { executeRoutes } from './toolbox/process/execute.ts';
import { addInterpreterSocket, interpreterRoutes } from './toolbox/process/interpreter.ts';
import { addPtySockets, chooseProtocol, ptyRoutes } from './toolbox/process/pty.ts';
import { addLogRoutes, sessionRoutes } from './toolbox/process/sessions.ts';
import { systemRoutes } from './toolbox/process/system.ts';

// Calls of both APIs that this service does not have, each with a sentence of its own.

type Call = `${DaytonaRoute['method']} /${string}`;

const ofControl: [reason: string, ...calls: Call[]][] = [
  [
    'There are no volumes here: keep files in a sandbox, which has its disk until it is deleted.',
    ...(['POST /volumes', 'GET /volumes/:id', 'DELETE /volumes/:id', 'GET /volumes/by-name/:name'] as const),
  ],
  [
    'Only the operator has sandboxes made ahead of time here, and they serve every creation by themselves.',
    ...(['GET /warm-pools', 'POST /warm-pools', 'PATCH /warm-pools/:id', 'DELETE /warm-pools/:id'] as const),
  ],
  [
    'A fork does not know here which sandbox it was made of.',
    ...(['GET /sandbox/:sandbox/forks', 'GET /sandbox/:sandbox/parent'] as const),
    'GET /sandbox/:sandbox/ancestors',
  ],
  [
    'A backup of a sandbox cannot be asked for here; archive one that is stopped.',
    'POST /sandbox/:sandbox/backup',
  ],
  [
    'A sandbox cannot be paused here: stop it, which keeps its files and ends its processes.',
    ...(['POST /sandbox/:sandbox/pause', 'POST /sandbox/:sandbox/autopause/:interval'] as const),
  ],
  [
    'Nothing is kept of what a sandbox used here; the toolbox shows its use now.',
    ...(['GET /sandbox/:sandbox/telemetry/metrics', 'GET /sandbox/:sandbox/telemetry/logs'] as const),
    ...(['GET /sandbox/:sandbox/telemetry/traces', 'GET /sandbox/:sandbox/telemetry/traces/:trace'] as const),
  ],
  ['A snapshot is active until it is deleted here.', 'POST /snapshots/:snapshot/deactivate'],
];

/** Whole parts of the toolbox. */
const ofToolbox: Record<string, string> = {
  '/lsp/*': 'There are no language servers here: start one in a session.',
  '/computeruse/*': 'There is no desktop here, nor a recording of one.',
  '/env': 'The environment of a sandbox that is there cannot be changed: give it to each call.',
  '/init': 'A sandbox here needs no token of its own.',
};

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export const notInControl: readonly DaytonaRoute[] = ofControl.flatMap(([reason, ...calls]) =>
  calls.map((call) => {
    const [method = '', path = ''] = call.split(' ');
    return refused(method as DaytonaRoute['method'], path, reason);
  }),
);

export const notInToolbox: readonly DaytonaRoute[] = Object.entries(ofToolbox).flatMap(([path, reason]) =>
  methods.map((method) => refused(method, path, reason)),
);

function refused(method: DaytonaRoute['method'], path: string, reason: string): DaytonaRoute {
  return {
    ...{ method, path },
    async handler() {
      throw new NotHere(reason);
    },
  };
}

const controlRoutes: readonly DaytonaRoute[] = [
  ...configRoutes,
  ...createRoutes,
  ...listRoutes,
  ...sandboxRoutes,
  ...accessRoutes,
  ...snapshotRoutes,
  ...buildLogRoutes,
  ...storageRoutes,
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
    addBuildLogs(control, parts);
    addRest(control, CONTROL);
  });
  app.register(async (storage) => addStorage(storage, parts));
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
