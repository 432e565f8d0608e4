/** The service inside of a sandbox, in place of which this service answers: procedures, files, and whether it runs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Shares } from '../../../fairness/shares.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type DaytonaDependencies, toCall } from '../../daytona/base/call.ts';
import { breakOff } from '../../streams.ts';
import { ENVD, ID_HEADER, isForContexts, wholeId } from '../base/address.ts';
import { isSigned, tokenIn } from '../base/credentials.ts';
import { connectErrorOf, NotHere, NotRunning, sendError } from '../base/errors.ts';
import { messageOf, parsed } from './connect.ts';
import { answerContexts } from './contexts.ts';
import { type InsideCall, insideOf } from './entries.ts';
import { assertSigned, download, upload } from './files.ts';
import { filesystem, watchDir } from './filesystem.ts';
import * as processes from './process.ts';
import { type Streaming, stream } from './streams.ts';

const plain = { 'process.Process': processes.process, 'filesystem.Filesystem': filesystem };
const streaming: Record<string, Streaming> = {
  'process.Process/Start': processes.start,
  'process.Process/Connect': processes.connect,
  'filesystem.Filesystem/WatchDir': watchDir,
};

/** Bodies stay unread: they are bytes, or messages of a protocol of their own. */
export function addInside(app: FastifyInstance, parts: DaytonaDependencies): void {
  const { services, log } = parts;
  const config = { keysOnly: true, sandboxTokens: true, keyIn: tokenIn };
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(stopping()));
  const streams = {
    ...{ log, stopping: stop.signal },
    shares: new Shares({ ...limits.detached.viewers, what: 'streams from sandboxes are open' }),
  };
  const signed = new Shares({ ...limits.preview.files.requests, what: 'signed files are on their way' });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler(async (error, request, reply) => {
    const known = await notRunning(error, request);
    if (!request.url.startsWith(`${ENVD}/process.`) && !request.url.startsWith(`${ENVD}/filesystem.`))
      return sendError(known, request, reply, log);
    const { status, error: said } = connectErrorOf(known, request, log);
    return reply.code(status).send(said);
  });
  app.addHook('preHandler', async (request) => {
    if (isForContexts(request.raw)) answerContexts();
  });

  app.get(`${ENVD}/health`, { config: { open: true } }, async (request, reply) => {
    if (!(await services.sandboxTokens.isRunning(idOf(request)))) throw new NotRunning(shownId(request));
    return reply.code(204).send();
  });
  app.get(`${ENVD}/envs`, { config }, async (request, reply) => {
    const { request: asked, sandbox } = callOf(request, reply);
    return (await services.sandboxes.get(asked.caller, sandbox)).envVars;
  });
  for (const [method, handler] of [
    ['GET', download],
    ['POST', upload],
  ] as const)
    app.route({
      ...{ method, url: `${ENVD}/files`, exposeHeadRoute: false },
      config: { ...config, byteStream: true, openIf: isSigned },
      handler: async (request, reply) => {
        if (isSigned(request)) await admitSigned(request, reply);
        const result = await handler(callOf(request, reply));
        return reply.sent ? reply : reply.send(result);
      },
    });
  for (const [service, procedures] of Object.entries(plain))
    for (const [name, procedure] of Object.entries(procedures))
      app.post(`${ENVD}/${service}/${name}`, { config }, async (request, reply) =>
        procedure(callOf(request, reply), parsed(await bodyOf(request))),
      );
  app.post(
    `${ENVD}/process.Process/StreamInput`,
    { config: { ...config, endless: true } },
    async (request, reply) => {
      const call = callOf(request, reply);
      return stream(
        call,
        {},
        async ({ stream: answer }) => {
          void answer.send(await processes.streamInput(call));
          return null;
        },
        streams,
      );
    },
  );
  for (const [name, work] of Object.entries(streaming))
    app.post(`${ENVD}/${name}`, { config: { ...config, endless: true } }, async (request, reply) =>
      stream(callOf(request, reply), await messageOf(request.raw), work, streams),
    );
  app.all(`${ENVD}/*`, { config }, async (request) => {
    const [path = ''] = request.url.slice(ENVD.length).split('?');
    throw new NotHere(`This service has no ${request.method} ${path} inside of a sandbox for E2B's clients.`);
  });

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

const BODY_BYTES = 4 * 1024 * 1024;

async function bodyOf({ raw }: FastifyRequest): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of raw as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > BODY_BYTES) throw new SandhavenError('too_large', 'The message is too large.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is stopping.', { hint: 'Connect again.' });
}
