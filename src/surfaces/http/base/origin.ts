/** Describes a request's origin for the audit log. */
import type { FastifyRequest } from 'fastify';
import type { AuditSubject, Origin } from '../../../control/audit/audit.ts';

export function originOf({ arrival }: FastifyRequest): Origin {
  return { transport: 'http', address: arrival.client || null };
}

/** Describes a route that is neither a tool nor an action. */
export function subjectOf(request: FastifyRequest, action: string, signal?: AbortSignal): AuditSubject {
  const { caller, id } = request;
  return { action, caller, origin: originOf(request), requestId: id, ...(signal ? { signal } : {}) };
}
