/** Calls an administration action: checks the role, then the parameters, then runs it. Every surface uses this. */
import { validateInput } from '../catalog/validate.ts';
import { inSpan } from '../concurrency/span.ts';
import { assertAdmin } from '../model/access/admins.ts';
import { assertScope, isViewer, refusedToViewers } from '../model/access/scopes.ts';
import { SandhavenError } from '../model/errors.ts';
import { nearest } from '../model/nearest.ts';
import { type Action, type ActionContext, scopeOf } from './action.ts';
import { actions } from './index.ts';

const byName = new Map<string, Action>(actions.map((action) => [action.name, action]));

/** Throws `not_found`, naming the nearest action. */
export function findAction(name: string): Action {
  const action = byName.get(name);
  if (action) return action;
  const [close] = nearest(name, [...byName.keys()]);
  throw new SandhavenError('not_found', `There is no action ${JSON.stringify(name.slice(0, 100))}.`, {
    resource: 'action',
    hint: close ? `Did you mean ${close}?` : 'GET /v1/admin lists all actions.',
  });
}

/**
 * @param rawParameters The client's parameters, of any shape.
 * @returns The result. Rejects with SandhavenError; anything else is a defect.
 */
export async function callAction(
  name: string,
  rawParameters: unknown,
  context: ActionContext,
): Promise<Record<string, unknown>> {
  const action = findAction(name);
  const audited = () =>
    context.services.audit.call({ ...context, action: action.name }, async () => {
      assertScope(context.caller, scopeOf(action));
      if (action.forViewers === false && isViewer(context.caller)) throw refusedToViewers();
      if (action.role === 'admin') assertAdmin(context.caller, action.name);
      return action.handler(validateInput(action.input, rawParameters), context);
    });
  return inSpan(action.name, {}, audited);
}
