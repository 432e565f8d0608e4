/** Descriptions of the actions as data, for their list and OpenAPI. */
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from '../catalog/json-schema.ts';
import type { Scope } from '../model/access/scopes.ts';
import type { Role } from '../model/user.ts';
import { type Action, scopeOf } from './action.ts';
import { actions } from './index.ts';

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
