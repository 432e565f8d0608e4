/**
 * GET /v1/sandboxes/{sandbox}/processes/{process}/output: output of a process as server-sent events, byte for byte, until
 * the process ends. It waits for its viewers, and goes on when they leave.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { processReference } from '../../../administration/processes.ts';
import { sandbox } from '../../../catalog/parameters/sandbox.ts';
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
import { numberWithin } from './terminal.ts';

const target = z.strictObject({
  sandbox,
  process: processReference,
  from: numberWithin(limits.detached.position).optional(),
});

export function addProcessOutputRoute(
  app: FastifyInstance,
  services: Pick<Services, 'processes' | 'audit' | 'metrics'>,
  log: Log,
): void {
  const shares = new Shares({ ...limits.detached.viewers, what: 'viewers of processes are connected' });
  services.metrics.loads.watch('processes', shares);
  const stop = new AbortController();
  // A process may run for long, and the server would wait for it.
  app.addHook('preClose', async () => stop.abort(stopping()));

  const path = '/v1/sandboxes/:sandbox/processes/:process/output';
  app.get(
    path,
    { exposeHeadRoute: false, config: { endless: true, sandboxTokens: true } },
    async (request, reply) => {
      const { caller, query, params } = request;
      const gone = clientSignal(reply);
      const signal = AbortSignal.any([gone, stop.signal]);
      const output = new OutputBytes(reply.raw);
      let streamed: Promise<void> | undefined;
      const subject = subjectOf(request, auditActions.processView, gone);
      const viewed = services.audit.visit(subject, auditActions.processLeave, async (begun) => {
        assertScope(caller, 'sandboxes:read');
        const asked = validateInput(target, { ...(query as object), ...(params as object) });
        reply.raw.once('close', shares.take(caller.id));
        const view = { process: asked.process, from: asked.from ?? null };
        const begin = (from: number) => {
          begun();
          request.leave?.();
          const outputOn = () => output;
          const problemOf = (error: unknown) => explain(error, request, log);
          streamed = streamCall(reply, () => viewed, outputOn, problemOf, signal);
          output.begin(from);
        };
        const sink = { begun: begin, show: output.show.bind(output) };
        const end = await services.processes.view(caller, asked.sandbox, view, sink, signal);
        return { exit_code: end.exitCode, signal: end.signal, timed_out: end.timedOut };
      });
      // Once the stream has begun, the client gets the error in it.
      await viewed.catch((error: unknown) => {
        if (!streamed) throw error;
      });
      await streamed;
      return reply;
    },
  );
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is stopping; the process goes on.', {
    hint: 'Connect again, from the position after the last byte that has come.',
  });
}
