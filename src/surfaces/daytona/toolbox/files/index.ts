/** Files of a sandbox for Daytona's clients. */
import type { FastifyInstance } from 'fastify';
import { collecting } from '../../../../fairness/answer-room.ts';
import { auditActions } from '../../../../model/audit.ts';
import { limits } from '../../../../model/limits.ts';
import { assertScope, type Scope } from '../../../../model/scopes.ts';
import { subjectOf } from '../../../http/base/origin.ts';
import { type DaytonaDependencies, type DaytonaRoute, toCall } from '../../base/call.ts';
import { coding } from '../../base/errors.ts';
import { fileCode } from '../codes.ts';
import { download, downloadMany } from './download.ts';
import { changeRoutes, entryRoutes, listEntries } from './entries.ts';
import { searchRoutes } from './search.ts';
import { isSigned, serveSigned } from './signed.ts';
import { upload, uploadMany } from './upload.ts';

export const fileRoutes: readonly DaytonaRoute[] = [...entryRoutes, ...changeRoutes, ...searchRoutes].map(
  (route) => coding(route, fileCode),
);

/** A route whose body or answer may have any size. */
interface StreamRoute extends DaytonaRoute {
  /** In the audit log. */
  action: string;
  scope: Scope;
}

const reads = { action: auditActions.download, scope: 'sandboxes:read' } as const;
const writes = { action: auditActions.upload, scope: 'sandboxes:write' } as const;

const sending: readonly StreamRoute[] = [
  { method: 'GET', path: '/files', handler: listEntries, ...reads, action: 'Sandbox.ListFiles' },
  { method: 'GET', path: '/files/download', handler: download, ...reads },
  { method: 'POST', path: '/files/bulk-download', handler: downloadMany, ...reads },
];

/** Routes that a signature opens, too. */
const signable = ['/files/download', '/files/upload-v2'];

/** Their bodies stay unread. */
const taking: readonly StreamRoute[] = [
  { method: 'POST', path: '/files/upload', handler: upload, ...writes },
  { method: 'POST', path: '/files/upload-v2', handler: upload, ...writes },
  { method: 'POST', path: '/files/bulk-upload', handler: uploadMany, ...writes },
];

export function addFileStreams(app: FastifyInstance, root: string, parts: DaytonaDependencies): void {
  for (const route of sending) add(app, root, route, parts);
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const route of taking) add(raw, root, route, parts);
  });
}

function add(app: FastifyInstance, root: string, route: StreamRoute, parts: DaytonaDependencies): void {
  const { method, path, action, scope, handler } = coding(route, fileCode);
  app.route({
    ...{ method, url: `${root}${path}`, exposeHeadRoute: false },
    config: { byteStream: true, ...(signable.includes(path) ? { openIf: isSigned } : {}) },
    async handler(request, reply) {
      request.raw.socket.setTimeout(limits.byteStreamIdleMs);
      if (request.caller === undefined) {
        const result = await serveSigned(request, reply, parts.services);
        return reply.sent ? reply : reply.send(result);
      }
      const hold = parts.answers.hold(request.caller.id);
      reply.raw.once('close', () => hold.release());
      const call = toCall(request, reply, parts);
      const result = await parts.services.audit.call(
        subjectOf(request, action, call.signal),
        async () => {
          assertScope(request.caller, scope);
          return collecting(hold, () => handler(call));
        },
        // Once the status is sent, only the end of the connection reports a failure.
        () => (call.signal.aborted ? 'cancelled' : null),
      );
      return reply.sent ? reply : reply.send(result);
    },
  });
}
