/** Streaming procedures: each is a visit to the sandbox, which the audit log notes and the client may leave at any time. */
import type { FastifyReply } from 'fastify';
import type { Log } from '../../../control/ports/index.ts';
import type { Shares } from '../../../fairness/shares.ts';
import { assertScope, type Scope } from '../../../model/scopes.ts';
import { subjectOf } from '../../http/base/origin.ts';
import { type ConnectError, connectErrorOf } from '../base/errors.ts';
import { Envelopes } from './connect.ts';
import type { InsideCall } from './filesystem.ts';

export interface StreamCall {
  call: InsideCall;
  stream: Envelopes;
  /** Runs work that lasts, from its beginning on under the first name, to its end under the second. */
  visit(
    names: [opened: string, closed: string, scope: Scope],
    work: (begun: () => void, signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
}

/** Returns the error that the stream ends with; null for none. */
export type Streaming = (call: StreamCall) => Promise<ConnectError | null>;

export interface StreamParts {
  log: Log;
  shares: Shares;
  /** Aborted when the service stops. */
  stopping: AbortSignal;
}

export async function stream(
  call: InsideCall,
  work: Streaming,
  { log, shares, stopping }: StreamParts,
): Promise<FastifyReply> {
  const { request, reply, services } = call;
  const envelopes = new Envelopes(reply, () => request.leave?.());
  const signal = AbortSignal.any([call.signal, stopping]);
  const visit = visitOf(call, signal, call.signal);
  try {
    // Before the first message, which may be long in coming.
    reply.raw.once('close', shares.take(request.caller.id));
    envelopes.end(await work({ call, stream: envelopes, visit }));
  } catch (error) {
    // Clients take a broken stream for a sandbox that has ended, and ask whether it has.
    if (envelopes.isOpen && !(await services.sandboxTokens.isRunning(call.sandbox))) reply.raw.destroy();
    // A stream has the status of a success, whatever becomes of it.
    else envelopes.end(connectErrorOf(error, request, log).error);
  }
  return reply;
}

/** @param signal Aborted when the visit is over. @param left Aborted when its client has left. */
export function visitOf(
  { request, services }: InsideCall,
  signal: AbortSignal,
  left: AbortSignal,
): StreamCall['visit'] {
  return ([opened, closed, scope], visiting) =>
    services.audit.visit(subjectOf(request, opened, left), closed, async (begun) => {
      assertScope(request.caller, scope);
      await visiting(begun, signal);
    });
}
