/**
 * Refuses calls that an application's grant does not cover by HTTP's own status, from which a client learns to ask the
 * person for more.
 *
 * Source: the authorization chapter of the MCP specification, on insufficient scope.
 */
import { scopeOf, toolNamed } from '../../catalog/call.ts';
import type { Origin } from '../../control/audit/audit.ts';
import type { Services } from '../../control/services.ts';
import { SandhavenError, toProblem } from '../../model/errors.ts';
import { isGrantId, newRequestId } from '../../model/ids.ts';
import { hasScope, isKeptBack, type Scope, scopes } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';

export interface ScopeCheck {
  caller: Caller;
  origin: Origin;
  /** Returns the header WWW-Authenticate that asks for these scopes; null where nobody is authorized by OAuth. */
  challenge: ((needed: readonly Scope[]) => string) | null;
}

/**
 * Returns null where every call is within its scopes, and for keys, whose calls carry their refusals themselves. A refusal
 * counts as a call, and rejects with `resource_exhausted` above the rate: each leaves a row in the audit log.
 */
export async function scopeRefusal(
  { audit, identity }: Pick<Services, 'audit' | 'identity'>,
  { caller, origin, challenge }: ScopeCheck,
  body: unknown,
): Promise<Response | null> {
  if (challenge === null || !isGrantId(caller.keyId)) return null;
  for (const { name, scope } of callsIn(body)) {
    // More consent would not help a viewer: the tool itself refuses, and names the reason.
    if (hasScope(caller, scope) || isKeptBack(caller, scope)) continue;
    identity.count(caller);
    const requestId = newRequestId();
    const refusal = async () => {
      throw lacking(scope);
    };
    const error = await audit
      .call({ action: name, caller, origin, requestId }, refusal)
      .catch((reason) => reason);
    const needed = scopes.filter((one) => one === scope || caller.scopes?.includes(one));
    return Response.json(toProblem(error, requestId), {
      status: 403,
      headers: { 'content-type': 'application/problem+json', 'www-authenticate': challenge(needed) },
    });
  }
  return null;
}

/** Calls of one message, or of a batch; unknown tools are for others to refuse. */
function callsIn(body: unknown): { name: string; scope: Scope }[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    if (method !== 'tools/call' || typeof params?.name !== 'string') return [];
    const tool = toolNamed(params.name);
    return tool === null ? [] : [{ name: tool.name, scope: scopeOf(tool) }];
  });
}

function lacking(scope: Scope): SandhavenError {
  return new SandhavenError('permission_denied', `The application was not allowed the scope ${scope}.`, {
    hint: 'Let the application ask for it: its owner decides on the page of this service.',
  });
}
