/**
 * GET /v1/sandboxes/{sandbox}/files/watch: changes below a folder as server-sent events, as they happen, until the folder is
 * gone. A client that reads too slowly gets `overflow` among them.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { asUser, sandbox } from '../../../catalog/parameters/sandbox.ts';
import { rootedPath } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { Shares } from '../../../fairness/shares.ts';
import { auditActions } from '../../../model/audit.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { subjectOf } from '../base/origin.ts';
import { explain } from '../base/problem.ts';
import { OutputBytes, streamCall } from './event-stream.ts';
import { clientSignal } from './send.ts';

const target = z.strictObject({
  sandbox,
  path: rootedPath('Folder'),
  recursive: z.enum(['true', 'false']).default('false'),
  user: asUser,
});

export function addFileChangesRoute(
  app: FastifyInstance,
  services: Pick<Services, 'files' | 'audit' | 'metrics'>,
  log: Log,
): void {
  const shares = new Shares({ ...limits.watching.streams, what: 'watches of files are open' });
  services.metrics.loads.watch('file_watches', shares);
  const stop = new AbortController();
  // A watch has no end of its own, and the server would wait for it.
  app.addHook('preClose', async () => stop.abort(stopping()));

  const path = '/v1/sandboxes/:sandbox/files/watch';
  app.get(
    path,
    { exposeHeadRoute: false, config: { endless: true, sandboxTokens: true } },
    async (request, reply) => {
      const { caller, query, params } = request;
      const gone = clientSignal(reply);
      const signal = AbortSignal.any([gone, stop.signal]);
      const events = new OutputBytes(reply.raw);
      let streamed: Promise<void> | undefined;
      const subject = subjectOf(request, auditActions.filesWatch, gone);
      const watched = services.audit.visit(subject, auditActions.filesLeave, async (begun) => {
        assertScope(caller, 'sandboxes:read');
        const asked = validateInput(target, { ...(query as object), ...(params as object) });
        reply.raw.once('close', shares.take(caller.id));
        const watch = { path: asked.path, recursive: asked.recursive === 'true', user: asked.user };
        const sink = {
          begun: () => {
            begun();
            request.leave?.();
            const problemOf = (error: unknown) => explain(error, request, log);
            streamed = streamCall(
              reply,
              () => watched,
              () => events,
              problemOf,
              signal,
            );
            events.send('begin', {});
          },
          changed: (changes: object[]) => events.send('changes', { changes }),
        };
        await services.files.watch(caller, asked.sandbox, watch, sink, signal);
        return { gone: true };
      });
      // Once the stream has begun, the client gets the error in it.
      await watched.catch((error: unknown) => {
        if (!streamed) throw error;
      });
      await streamed;
      return reply;
    },
  );
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is stopping, and watches no more.', {
    hint: 'Connect again, and list what you follow.',
  });
}
