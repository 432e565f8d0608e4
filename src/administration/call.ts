/** Calls an administration action: checks the role, then the parameters, then runs it. Every surface uses this. */
import { assertOpen } from '../catalog/base/sandbox-view.ts';
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from '../catalog/json-schema.ts';
import { validateInput } from '../catalog/validate.ts';
import { inSpan } from '../concurrency/span.ts';
import { SandhavenError } from '../model/errors.ts';
import { nearest } from '../model/nearest.ts';
import { assertScope, isViewer, refusedToViewers, type Scope } from '../model/scopes.ts';
import { assertAdmin, type Role } from '../model/user.ts';
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
      assertOpen(context.caller, action.name);
      assertScope(context.caller, scopeOf(action));
      if (action.forViewers === false && isViewer(context.caller)) throw refusedToViewers();
      if (action.role === 'admin') assertAdmin(context.caller, action.name);
      return action.handler(validateInput(action.input, rawParameters), context);
    });
  return inSpan(action.name, {}, audited);
}

/** Descriptions of the actions as data, for their list and OpenAPI. */
export interface ActionDescription {
  name: string;
  title: string;
  description: string;
  role: Role;
  /** Scope that a key needs. */
  scope: Scope;
  /** Words of the command after `sandhaven`. */
  command: string;
  input_schema: JsonSchema;
  output_schema: JsonSchema;
}

export const actionDescriptions: readonly ActionDescription[] = actions.map(describeAction);

function describeAction(action: Action): ActionDescription {
  const { name, title, description, role, command } = action;
  const scope = scopeOf(action);
  const schemas = { input_schema: inputJsonSchema(action), output_schema: outputJsonSchema(action) };
  return { name, title, description, role, scope, command, ...schemas };
}
