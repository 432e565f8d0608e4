/** The catalogue as MCP lists it. */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { mcpName } from '../../catalog/call.ts';
import { describeTool } from '../../catalog/describe.ts';
import { tools } from '../../catalog/index.ts';
import type { JsonSchema } from '../../catalog/json-schema.ts';
import type { Tool } from '../../catalog/tool.ts';

export const listedTools: ListedTool[] = tools.map(toListed);

function toListed(tool: Tool): ListedTool {
  const { title, description, input_schema, output_schema, annotations } = describeTool(tool);
  return {
    name: mcpName(tool),
    title,
    description,
    inputSchema: input_schema as ListedTool['inputSchema'],
    outputSchema: admitError(output_schema),
    annotations,
  };
}

/**
 * An error's structured content is `{ error }`, and clients in wide use check it against the output schema as
 * they check a result. So the schema that is listed admits it and, at the top, requires nothing.
 */
function admitError({ required: _, properties, ...schema }: JsonSchema): ListedTool['outputSchema'] {
  const admitting = { ...schema, properties: { ...properties, error: { type: 'object' } } };
  return admitting as unknown as ListedTool['outputSchema'];
}
