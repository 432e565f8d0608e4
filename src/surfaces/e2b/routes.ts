/**
 * The API of E2B's clients, on what every surface calls: control of sandboxes, and the service inside of one, which this service
 * answers in its place. A route decodes, calls, encodes; it holds no state and has no rule of its own.
 */
import type { FastifyInstance } from 'fastify';
import { type DaytonaDependencies, type DaytonaRoute, toCall } from '../daytona/base/call.ts';
import { CONTROL } from './base/address.ts';
import { keyIn } from './base/credentials.ts';
import { NotHere, sendError } from './base/errors.ts';
import { sandboxRoutes } from './control/sandboxes.ts';
import { snapshotRoutes } from './control/snapshots.ts';
import { takeUpload, templateRoutes, UPLOADS } from './control/templates.ts';
import { addInside } from './envd/routes.ts';

const config = { keysOnly: true, keyIn };

export function addE2bRoutes(app: FastifyInstance, parts: DaytonaDependencies): void {
  app.register(async (control) => {
    control.setErrorHandler((error, request, reply) => sendError(error, request, reply, parts.log));
    for (const route of [...sandboxRoutes, ...snapshotRoutes, ...templateRoutes])
      addControl(control, route, parts);
    control.register(async (unread) => {
      unread.removeAllContentTypeParsers();
      unread.addContentTypeParser('*', (_request, _payload, done) => done(null));
      unread.put(UPLOADS, { config: { open: true, byteStream: true } }, (request, reply) =>
        takeUpload(request, reply, parts.services),
      );
    });
    control.all(`${CONTROL}/*`, { config }, async (request) => {
      const [path = ''] = request.url.slice(CONTROL.length).split('?');
      throw new NotHere(`This service has no ${request.method} ${path} for E2B's clients.`);
    });
  });
  app.register(async (inside) => addInside(inside, parts));
}

function addControl(app: FastifyInstance, route: DaytonaRoute, parts: DaytonaDependencies): void {
  const { method, path, status = 200, handler } = route;
  app.route({
    ...{ method, url: `${CONTROL}${path}`, exposeHeadRoute: false },
    config,
    handler: async (request, reply) => {
      reply.code(status);
      const result = await handler(toCall(request, reply, parts));
      return reply.send(result);
    },
  });
}
