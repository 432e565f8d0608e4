/**
 * Serves the catalogue, the bytes of files, tunnels, terminals, MCP and health on one listener. Before any route, the Host, the
 * Origin and the key are checked and the request is admitted.
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import type { Tool } from '../../catalog/base/tool.ts';
import type { Tracer } from '../../concurrency/span.ts';
import type { Log } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import type { AnswerRoom } from '../../fairness/answer-room.ts';
import { gatherPieces } from '../../fairness/body-pieces.ts';
import { paceConnections } from '../../fairness/paced-connection.ts';
import { type ErrorCode, notFound, SandhavenError, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Arrival, type Arrivals, createArrivals } from '../../model/network/arrival.ts';
import { previewOrigin } from '../../model/network/service-names.ts';
import type { Caller } from '../../model/user.ts';
import type { TlsServing } from '../../tls/serving.ts';
import { SharedRoom } from '../json/bodies.ts';
import type { McpEndpoint } from '../mcp/endpoint.ts';
import { breakOff } from '../streams.ts';
import { Admission } from './admission.ts';
import { authenticate } from './authenticate.ts';
import { Connections, linger, SlowReaders } from './base/connections.ts';
import { acceptJsonBodies } from './base/json-body.ts';
import { explain, refuseConnection, sendProblem } from './base/problem.ts';
import { asksForUpgrade, Upgrades } from './base/upgrades.ts';
import { assertOneHost, createHostCheck, createPublicOrigin } from './hosts.ts';
import { LastCalls } from './last-calls.ts';
import { addMetricsRoute } from './metrics/route.ts';
import { addOAuthRoutes, type OAuthDependencies } from './oauth/routes.ts';
import { addOpenApiRoute } from './openapi/openapi.ts';
import { addPackageRoutes, type PackageFile } from './packages.ts';
import { addPageRoutes, compressForPage, type PageFiles, ROUTES_HINT } from './page.ts';
import { addRequestSpans } from './request-spans.ts';
import { addAuthorizationRoutes } from './routes/authorization.ts';
import { addBuildRoute, addDetachedBuildRoutes } from './routes/builds.ts';
import { addByteRoutes } from './routes/bytes.ts';
import { addAdminRoutes, addToolRoutes } from './routes/calls.ts';
import { addDeviceSignInRoutes } from './routes/device-sign-in.ts';
import { addEventRoutes } from './routes/events.ts';
import { addFileChangesRoute } from './routes/file-changes.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addMcpRoute } from './routes/mcp.ts';
import { addProcessOutputRoute } from './routes/process-output.ts';
import { addCredentialRoutes, addSignInRoutes } from './routes/sign-in.ts';
import { addTerminalRoute } from './routes/terminal.ts';
import { addTunnelRoute } from './routes/tunnel.ts';
import { Attempts } from './sign-in/network-rate.ts';

export interface HttpServerDependencies extends Pick<OAuthDependencies, 'exit' | 'fetchDocument'> {
  services: Services;
  log: Log;
  /** Host names and addresses that clients may use, each for any port or, as `name:port`, for one. */
  allowedHosts: readonly string[];
  /** Proxies trusted about a request's origin; none by default. */
  arrivals?: Arrivals;
  /** Null for plain HTTP. */
  tls?: TlsServing | null;
  /** The service's public origin, if any. */
  publicUrl?: string | null;
  version: string;
  /** Listed tools; all, unless the operator chose toolsets. */
  tools?: readonly Tool[];
  /** Shared with MCP, if present. */
  room?: SharedRoom;
  /** Drained before the server closes, if given. */
  lastCalls?: LastCalls;
  /** Returns true when calls can be answered; rejects with the reason when it is known. */
  ready(): boolean | Promise<boolean>;
  /** The built page; none without it. */
  page?: PageFiles | null;
  /** Clients that anybody may fetch; none without it. */
  packages?: readonly PackageFile[];
  /** Receives the request with its body unread. */
  mcp?: Pick<McpEndpoint, 'handle'>;
  tracer?: Tracer | null;
  /** Returns true for a request that another listener has checked and led here. */
  isLed?(request: IncomingMessage): boolean;
  /** Adds the routes of further APIs, if any. */
  further?(app: FastifyInstance, parts: FurtherParts): void;
}

export interface FurtherParts extends Pick<HttpServerDependencies, 'services' | 'log'> {
  upgrades: Upgrades;
  answers: AnswerRoom;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    arrival: Arrival;
    /** Origin of this service that others may be sent to; null for another address. */
    publicOrigin: string | null;
    /** Response to the request. */
    answer: ServerResponse;
    /** For the log: the called tool or action, and the error code of a failed call. */
    tool: string | null;
    outcome: ErrorCode | null;
    /** The client left before it had its answer. */
    abandoned: boolean;
    /** Releases the request's place among those in progress; null afterwards. */
    leave: (() => void) | null;
  }
  interface FastifyContextConfig {
    /** Answers without a key. */
    open?: boolean;
    /** Answers a request without a key when this returns true: the route checks what the request has in its place. */
    openIf?(request: FastifyRequest): boolean;
    /** Not cut off when its key ends: it ends in a moment, and may itself have caused that, or ends with a reason. */
    brief?: boolean;
    /** The body is streamed, at any size. */
    byteStream?: boolean;
    /** Has no end of its own: a stop ends it, and does not wait for it. */
    endless?: boolean;
  }
}

export function createHttpServer(parts: HttpServerDependencies): FastifyInstance {
  const { room = new SharedRoom(), lastCalls = new LastCalls() } = parts;
  const app = createApp(parts);
  lastCalls.watch(app);
  addChecks(app, parts);
  compressForPage(app);
  addRequestSpans(app, parts.tracer ?? null);
  addHealthRoutes(app, parts.ready);
  acceptJsonBodies(app, room.bodies);
  addToolRoutes(app, { ...parts, answers: room.answers });
  addAdminRoutes(app, parts.services, room.answers);
  addEventRoutes(app, parts.services);
  addMetricsRoute(app, parts.services.metrics);
  const upgrades = new Upgrades(app);
  addTunnelRoute(app, upgrades, parts.services);
  addTerminalRoute(app, upgrades, parts.services, parts.log);
  addProcessOutputRoute(app, parts.services, parts.log);
  addFileChangesRoute(app, parts.services, parts.log);
  parts.further?.(app, { ...parts, upgrades, answers: room.answers });
  // After those of the routes, which end what they carry with a reason.
  app.addHook('preClose', async () => upgrades.stop());
  addAuthorizationRoutes(app, parts.services);
  const attempts = new Attempts();
  addSignInRoutes(app, parts.services, attempts);
  addDeviceSignInRoutes(app, parts.services);
  addCredentialRoutes(app, parts.services, attempts);
  addOAuthRoutes(app, parts);
  const { previews } = parts.services;
  const frames = () => previews.site && previewOrigin(previews.site, '*');
  addPageRoutes(app, { files: parts.page ?? null, frames }, async (request, reply) => {
    request.caller = await authenticate(parts.services, request, reply);
  });
  addPackageRoutes(app, { packages: parts.packages ?? [], publicUrl: parts.publicUrl ?? null });
  addOpenApiRoute(app, parts);
  addDetachedBuildRoutes(app, parts.services);
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addByteRoutes(raw, parts.services);
    addBuildRoute(raw, parts.services, parts.log);
    addMcpRoute(raw, parts);
  });
  return app;
}

function createApp({ log, tls }: HttpServerDependencies): FastifyInstance {
  const http = {
    headersTimeout: limits.requestHeadersMs,
    connectionsCheckingInterval: limits.connectionCheckMs,
    shouldUpgradeCallback: asksForUpgrade,
    requireHostHeader: false,
  };
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    routerOptions: { maxParamLength: limits.pathBytes },
    // No route has a schema of fastify's: without these it would load two compilers of them.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // Fastify would skip the hooks behind one that takes longer, and leave open what they end. Each has a bound of its own.
    pluginTimeout: 0,
    // Bodies have deadlines of their own: an upload may take as long as bytes arrive.
    requestTimeout: 0,
    keepAliveTimeout: limits.apiIdleMs,
    ...(tls ? { serverFactory: secureFactory(tls, http) } : { http }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => void sendProblem(reply, explain(error, request, log)),
  });
  app.server.maxConnections = limits.connections;
  paceConnections(app.server, tls ? 'secureConnection' : 'connection');
  app.server.prependListener('request', gatherPieces);
  app.setErrorHandler((error, request, reply) => sendProblem(reply, explain(error, request, log)));
  app.setNotFoundHandler((request) => {
    throw notFound('route', `There is no ${request.method} on this path.`, ROUTES_HINT);
  });
  return app;
}

function noSchemas(): never {
  throw new Error('Routes have no schemas: the catalogue checks parameters.');
}

function addChecks(app: FastifyInstance, parts: HttpServerDependencies): void {
  const { services, log, arrivals = createArrivals([]), publicUrl = null, isLed = () => false } = parts;
  const hosts = createHostCheck(parts.allowedHosts);
  const originOfService = createPublicOrigin({ publicUrl, hosts, server: app.server });
  const connections = new Connections();
  connections.watch(app.server);
  const admission = new Admission(connections);
  services.metrics.loads.watch('requests', admission.load);
  const readers = new SlowReaders();
  app.addHook('onClose', async () => readers.close());
  app.decorateRequest('tool', null);
  app.decorateRequest('outcome', null);
  app.decorateRequest('abandoned', false);
  app.decorateRequest('leave', null);
  app.addHook('onRequest', async (request, reply) => {
    // Set on the raw response, so that streams that bypass fastify have them too.
    reply.raw.setHeader('x-request-id', request.id);
    reply.raw.setHeader('cache-control', 'no-store');
    reply.raw.setHeader('x-content-type-options', 'nosniff');
    reply.raw.setHeader('x-frame-options', 'DENY');
    request.arrival = arrivals(request.raw);
    request.publicOrigin = originOfService(request);
    request.answer = reply.raw;
    if (!request.routeOptions.config?.byteStream) readers.watch(reply.raw);
    whenClosed(request, reply, log);
    assertOneHost(reply);
    if (!isLed(request.raw)) {
      if (!hosts.knows(request.arrival.host)) return refuseHost(request, reply);
      hosts.assertOrigin(request.headers.origin);
    }
    const { open, openIf } = request.routeOptions.config ?? {};
    if (open || openIf?.(request)) return undefined;
    request.caller = await authenticate(services, request, reply);
    if (!request.routeOptions.config?.brief) cutWhenKeyEnds(services.identity, request, reply);
    await admission.admit(request, reply);
    return undefined;
  });
}

/** Sets the timeouts itself: fastify sets nothing on a server that it did not make. */
function secureFactory(tls: TlsServing, http: ServerOptions): FastifyServerFactory {
  return (handler) => {
    const own = { requestTimeout: 0, keepAliveTimeout: limits.apiIdleMs };
    const server: unknown = tls.createServer({ ...http, ...own }, handler);
    return server as Server;
  };
}

/** Ends open work when its key ends, as if its client had left. A reset, because a half-close ends no tunnel. */
function cutWhenKeyEnds(
  identity: Pick<Services['identity'], 'whileValid'>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const stop = identity.whileValid(request.caller, () => breakOff(request.raw.socket));
  reply.raw.once('close', stop);
}

/** Uses status 421, HTTP's own for this case, which the table of codes has no other use for. */
function refuseHost(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = new SandhavenError('permission_denied', 'This service does not answer to that Host.', {
    parameter: 'Host',
    hint: 'Use the address that the service printed when it started; its operator adds a name with --public-url.',
  });
  request.outcome = error.code;
  return sendProblem(reply, { ...toProblem(error, request.id), status: 421, title: 'Misdirected request' });
}

/** Runs on every end of the response: fastify's own hook skips clients that left. */
function whenClosed(request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const begun = performance.now();
  reply.raw.once('close', () => {
    request.abandoned = !reply.raw.writableFinished && reply.raw.statusCode !== 101;
    linger(request.raw);
    // No path, query or contents: those may hold secrets.
    log.info('request', {
      method: request.method,
      route: request.routeOptions.url ?? null,
      ...(request.tool === null ? {} : { tool: request.tool }),
      status: reply.raw.statusCode,
      ...(request.outcome === null ? {} : { code: request.outcome }),
      ...(request.abandoned ? { abandoned: true } : {}),
      ms: Math.round((performance.now() - begun) * 10) / 10,
      request_id: request.id,
      ...(request.span && request.outcome ? { trace_id: request.span.traceId } : {}),
      client: request.arrival.client,
      ...(request.caller ? { user: request.caller.id } : {}),
    });
  });
}
