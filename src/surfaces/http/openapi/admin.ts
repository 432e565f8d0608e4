/** Derives the administration part of the OpenAPI description from the actions. */
import { type ActionDescription, actionDescriptions } from '../../../administration/call.ts';
import { failures, JSON_TYPE, type Json, reference } from './service.ts';

export const adminPaths: Json = {
  '/v1/admin': { get: listOperation() },
  ...Object.fromEntries(
    actionDescriptions.map((action) => [`/v1/admin/${action.name}`, { post: actionOperation(action) }]),
  ),
};

export const adminSchemas: Json = Object.fromEntries(
  actionDescriptions.flatMap(({ name, input_schema, output_schema }) => [
    [`${name}Input`, input_schema],
    [`${name}Result`, output_schema],
  ]),
);

function actionOperation({ name, title, description, role, input_schema }: ActionDescription): Json {
  return {
    operationId: name,
    summary: title,
    description: role === 'admin' ? `${description} For admins.` : description,
    tags: ['Administration'],
    requestBody: {
      required: (input_schema.required ?? []).length > 0,
      content: { [JSON_TYPE]: { schema: reference(`${name}Input`) } },
    },
    responses: {
      '200': {
        description: 'The result.',
        content: { [JSON_TYPE]: { schema: reference(`${name}Result`) } },
      },
      ...failures,
    },
  };
}

function listOperation(): Json {
  const schema = {
    type: 'object',
    required: ['actions'],
    properties: { actions: { type: 'array', items: { type: 'object' } } },
  };
  return {
    operationId: 'listActions',
    summary: 'List the administration actions',
    tags: ['Administration'],
    responses: {
      '200': { description: 'The actions with their schemas.', content: { [JSON_TYPE]: { schema } } },
      ...failures,
    },
  };
}
