/** The service inside of a sandbox, in place of which this service answers: procedures, files, and whether it runs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Shares } from '../../../fairness/shares.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type DaytonaDependencies, toCall } from '../../daytona/base/call.ts';
import { breakOff } from '../../streams.ts';
import { ENVD, ID_HEADER, wholeId } from '../base/address.ts';
import { isSigned, tokenIn } from '../base/credentials.ts';
import { connectErrorOf, NotHere, NotRunning, sendError } from '../base/errors.ts';
import { asMessage } from './connect.ts';
import * as contexts from './contexts.ts';
import { assertSigned, download, upload } from './files.ts';
import { filesystem, type InsideCall, insideOf } from './filesystem.ts';
import * as processes from './process.ts';
import { type Streaming, stream } from './streams.ts';
import { Watchers, watchDir } from './watching.ts';

/** All that it sends is taken before the answer. */
const inputOf: Streaming = async ({ call, stream: answer }) => {
  void answer.send(await processes.streamInput(call));
  return null;
};

const streaming: Record<string, Streaming> = {
  'process.Process/Start': processes.start,
  'process.Process/Connect': processes.connect,
  'filesystem.Filesystem/WatchDir': watchDir,
};

export function addInside(app: FastifyInstance, parts: DaytonaDependencies): void {
  const { services, log } = parts;
  const config = { keysOnly: true, sandboxTokens: true, keyIn: tokenIn };
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(stopping()));
  const streams = {
    ...{ log, stopping: stop.signal },
    shares: new Shares({ ...limits.detached.viewers, what: 'streams from sandboxes are open' }),
  };
  const watchers = new Watchers(streams);
  const plain = {
    'process.Process': processes.process,
    'filesystem.Filesystem': { ...filesystem, ...watchers.procedures },
  };
  const signed = new Shares({ ...limits.preview.files.requests, what: 'signed files are on their way' });
  app.setErrorHandler(async (error, request, reply) => {
    const known = await notRunning(error, request);
    if (!request.url.startsWith(`${ENVD}/process.`) && !request.url.startsWith(`${ENVD}/filesystem.`))
      return sendError(known, request, reply, log);
    const { status, error: said } = connectErrorOf(known, request, log);
    return reply.code(status).send(said);
  });
  app.addHook('preHandler', async (request) => {
    const id = idOf(request);
    // A paused one waits for a connection, unless it was made so that any use wakes it.
    if (services.sleep.since(id) !== null && !(await services.sandboxTokens.wakes(id)))
      throw new NotRunning(shownId(request));
  });

  app.get(`${ENVD}/health`, { config: { open: true } }, async (request, reply) => {
    if (!(await services.sandboxTokens.isRunning(idOf(request)))) throw new NotRunning(shownId(request));
    return reply.code(204).send();
  });
  app.get(`${ENVD}/envs`, { config }, async (request, reply) => {
    const { request: asked, sandbox } = callOf(request, reply);
    return (await services.sandboxes.get(asked.caller, sandbox)).envVars;
  });
  for (const [service, procedures] of Object.entries(plain))
    for (const [name, procedure] of Object.entries(procedures))
      app.post(`${ENVD}/${service}/${name}`, { config }, async (request, reply) =>
        procedure(callOf(request, reply), asMessage(request.body)),
      );
  const ofContext = `${ENVD}/contexts/:id`;
  for (const [method, url, handler, status] of [
    ['POST', `${ENVD}/execute`, contexts.execute, 200],
    ['POST', `${ENVD}/contexts`, contexts.create, 201],
    ['GET', `${ENVD}/contexts`, contexts.list, 200],
    ['POST', `${ofContext}/restart`, contexts.restart, 200],
    ['DELETE', ofContext, contexts.remove, 204],
  ] as const)
    app.route({
      ...{ method, url, exposeHeadRoute: false },
      config: { ...config, endless: handler === contexts.execute },
      handler: async (request, reply) => {
        const result = await handler(callOf(request, reply));
        return reply.sent ? reply : reply.code(status).send(result);
      },
    });
  app.register(async (unread) => addUnread(unread));
  app.all(`${ENVD}/*`, { config }, async (request) => {
    const [path = ''] = request.url.slice(ENVD.length).split('?');
    throw new NotHere(`This service has no ${request.method} ${path} inside of a sandbox for E2B's clients.`);
  });

  /** Bodies that are bytes, or messages of a protocol of their own. */
  function addUnread(unread: FastifyInstance): void {
    unread.removeAllContentTypeParsers();
    unread.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const endless = { ...config, endless: true };
    for (const [method, handler] of [
      ['GET', download],
      ['POST', upload],
    ] as const)
      unread.route({
        ...{ method, url: `${ENVD}/files`, exposeHeadRoute: false },
        config: { ...config, byteStream: true, openIf: isSigned },
        handler: async (request, reply) => {
          if (isSigned(request)) await admitSigned(request, reply);
          const result = await handler(callOf(request, reply));
          return reply.sent ? reply : reply.send(result);
        },
      });
    unread.post(`${ENVD}/process.Process/StreamInput`, { config: endless }, async (request, reply) =>
      stream(callOf(request, reply), inputOf, streams),
    );
    for (const [name, work] of Object.entries(streaming))
      unread.post(`${ENVD}/${name}`, { config: endless }, async (request, reply) =>
        stream(callOf(request, reply), work, streams),
      );
  }

  function callOf(request: FastifyRequest, reply: FastifyReply): InsideCall {
    return insideOf(toCall(request, reply, parts));
  }

  /** Clients tell a sandbox that has ended from a wrong token by this alone. */
  async function notRunning(error: unknown, request: FastifyRequest): Promise<unknown> {
    const isOver =
      error instanceof SandhavenError && ['unauthenticated', 'invalid_state'].includes(error.code);
    return isOver && !(await services.sandboxTokens.isRunning(idOf(request)))
      ? new NotRunning(shownId(request))
      : error;
  }

  async function admitSigned(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = await services.sandboxTokens.standingOf(idOf(request));
    const query = request.query as Record<string, string | undefined>;
    assertSigned({ method: request.method, query }, token ?? '', Date.now());
    const caller = token === null ? null : await services.identity.authenticate(token);
    if (!caller) throw new SandhavenError('unauthenticated', 'invalid signature');
    services.identity.count(caller);
    request.caller = caller;
    reply.raw.once('close', signed.take(caller.id));
    reply.raw.once(
      'close',
      services.identity.whileValid(caller, () => breakOff(request.raw.socket)),
    );
  }
}

function shownId({ headers }: FastifyRequest): string {
  return String(headers[ID_HEADER] ?? '');
}

function idOf(request: FastifyRequest): string {
  return wholeId(shownId(request));
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is stopping.', { hint: 'Connect again.' });
}
