/**
 * POST /v1/builds: builds a snapshot of a Dockerfile. The body is the context, a tar; the answer is a line of JSON for each
 * event while the build runs, the last one `result` or `error`. A client that leaves ends the build, unless it is detached: that
 * one is read by GET /v1/builds/:build, and ended by DELETE.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { newName } from '../../../catalog/parameters/sandbox.ts';
import { toSnapshotView } from '../../../catalog/snapshots/snapshots.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { PreparedBuild } from '../../../control/builds/build.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { canceled, invalidArgument, SandhavenError, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { patient, readOn } from '../base/connections.ts';
import { subjectOf } from '../base/origin.ts';
import { explain } from '../base/problem.ts';
import { clientSignal } from './send.ts';

const text = z.string().min(1).max(limits.build.pathBytes);
const query = z.strictObject({
  name: newName('snap_'),
  file: text.default('Dockerfile'),
  target: text.optional(),
  build_arg: z.union([z.string(), z.array(z.string())]).default([]),
  cache: z.enum(['true', 'false']).default('true'),
  detach: z.enum(['true', 'false']).default('false'),
});

/** `app` must leave request bodies unread. */
export function addBuildRoute(
  app: FastifyInstance,
  services: Pick<Services, 'builds' | 'detachedBuilds' | 'audit'>,
  log: Log,
): void {
  const stop = new AbortController();
  // A build may run for an hour, and the server would wait for it.
  app.addHook('preClose', async () => stop.abort(stopping()));
  app.post('/v1/builds', { config: { byteStream: true, endless: true } }, (request, reply) => {
    const gone = clientSignal(reply);
    const signal = AbortSignal.any([gone, stop.signal]);
    const subject = subjectOf(request, auditActions.snapshotBuild, gone);
    // Once the stream has begun, the client gets the error in it.
    const outcome = () => request.outcome ?? (gone.aborted ? 'cancelled' : null);
    return services.audit.call(subject, () => build(services, request, reply, log, signal), outcome);
  });
}

/** Routes of detached builds, whose bodies are none. */
export function addDetachedBuildRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'detachedBuilds'>,
): void {
  app.get<Params>('/v1/builds/:build', { exposeHeadRoute: false }, async (request) => {
    assertScope(request.caller, 'sandboxes:read');
    const { from } = validateInput(position, request.query as object);
    const view = services.detachedBuilds.read(request.caller, request.params.build, from);
    const { id, announced, state, events, next, snapshot, error } = view;
    return {
      ...{ build_id: id, name: announced.name, state, next },
      events: events.map(({ at, ...event }) => ({ at: new Date(at).toISOString(), ...event })),
      snapshot: snapshot && toSnapshotView(snapshot),
      problem: state === 'failed' ? toProblem(error, request.id) : null,
    };
  });
  app.delete<Params>('/v1/builds/:build', async (request, reply) => {
    assertScope(request.caller, 'sandboxes:write');
    await services.detachedBuilds.remove(request.caller, request.params.build);
    return reply.code(204).send();
  });
}

interface Params {
  Params: { build: string };
}

const position = z.strictObject({ from: z.coerce.number().int().min(0).default(0) });

async function build(
  { builds, detachedBuilds }: Pick<Services, 'builds' | 'detachedBuilds'>,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
  signal: AbortSignal,
): Promise<FastifyReply> {
  assertScope(request.caller, 'sandboxes:write');
  const { name, file, target, build_arg, cache, detach } = validateInput(query, request.query as object);
  request.raw.socket.setTimeout(limits.byteStreamIdleMs);
  const args = new Map([build_arg].flat().map(pairOf));
  const asked = { name, file, args, isCached: cache === 'true', ...(target === undefined ? {} : { target }) };
  // A refusal is answered before the end of the body.
  const body = request.raw.iterator({ destroyOnReturn: false });
  const prepare = (until: AbortSignal) =>
    builds.prepare(request.caller, asked, body, until).catch((error: unknown) => {
      // A body that breaks off is its client's, who has left or is about to.
      throw request.raw.errored ? canceled(error) : error;
    });
  if (detach === 'true') {
    const id = await detachedBuilds.start(request.caller, { name }, (_id, ending) => prepare(ending));
    return reply.code(202).send({ build_id: id });
  }
  const prepared = await prepare(signal);
  try {
    request.leave?.();
    await stream(reply, prepared, (error) => explain(error, request, log));
  } finally {
    await prepared.close();
  }
  return reply;
}

async function stream(
  reply: FastifyReply,
  prepared: PreparedBuild,
  problemOf: (error: unknown) => object,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8', 'x-accel-buffering': 'no' });
  patient.add(raw);
  const send = (event: object): Promise<void> | undefined => {
    if (raw.writableEnded || raw.destroyed) return undefined;
    raw.write(`${JSON.stringify(event)}\n`);
    return readOn(raw);
  };
  // An empty line is no event: it shows both ends that the other one is there.
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write('\n');
  }, limits.eventStreamHeartbeatMs);
  try {
    const snapshot = await prepared.run(send);
    send({ event: 'result', snapshot: toSnapshotView(snapshot) });
  } catch (error) {
    send({ event: 'error', problem: problemOf(error) });
  } finally {
    clearInterval(heartbeat);
    patient.delete(raw);
    raw.end();
  }
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw invalidArgument(
    'build_arg',
    `The build argument '${text.slice(0, 60)}' is no NAME=value.`,
    'Give it as NAME=value.',
  );
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is stopping; the build was ended.', {
    hint: 'Build again: the steps that were done are kept.',
  });
}
