/**
 * The API of Daytona's clients, on what every surface calls: control of sandboxes under /daytona/api, work inside one under
 * /daytona/toolbox. A route decodes, calls, encodes; it holds no state and has no rule of its own.
 */
import type { FastifyInstance } from 'fastify';
import { type CallParts, toCall } from './base/call.ts';
import { NotHere, sendError } from './base/errors.ts';
import { CONTROL, type DaytonaDependencies, type DaytonaRoute, TOOLBOX } from './base/route.ts';
import { controlRoutes } from './control/index.ts';
import { addToolboxStreams, toolboxRoutes } from './toolbox/index.ts';

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
    addToolboxStreams(toolbox, `${TOOLBOX}/:sandbox`, parts);
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

/** Answers at once for all that is in no table. */
function addRest(app: FastifyInstance, root: string): void {
  app.all(`${root}/*`, async (request) => {
    const [path = ''] = request.url.slice(root.length).split('?');
    throw new NotHere(`This service has no ${request.method} ${path} for Daytona's clients.`);
  });
}
