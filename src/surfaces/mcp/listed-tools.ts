/**
 * Lists the catalogue for MCP: everything a model needs to call a tool, in as few bytes as possible, since a
 * client hands the whole list to its model at every turn. The full schemas are in GET /v1/tools, OpenAPI, the
 * documentation and the SDK.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { Tool } from '../../catalog/base/tool.ts';
import { mcpName } from '../../catalog/call.ts';
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from '../../catalog/json-schema.ts';
import { BOUNDLESS } from '../../catalog/parameters/scalars.ts';
import { inMcpNames } from './result.ts';

/** Made once for each tool: the catalogue never changes while the service runs. */
const made = new Map<Tool, ListedTool>();

export function listTools(tools: readonly Tool[]): ListedTool[] {
  return tools.map((tool) => {
    const listed = made.get(tool) ?? toListed(tool);
    made.set(tool, listed);
    return listed;
  });
}

function toListed(tool: Tool): ListedTool {
  return {
    name: mcpName(tool),
    description: inMcpNames(tool.description),
    inputSchema: compactInput(inputJsonSchema(tool)) as ListedTool['inputSchema'],
    outputSchema: compactOutput(tool) as ListedTool['outputSchema'],
    annotations: tool.annotations,
  };
}

/** The service enforces these with a self-explanatory error; they are not worth a model's attention before. */
const enforcedOnly = new Set(['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems']);

function compactInput(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword, value]) => {
    if (enforcedOnly.has(keyword)) return false;
    if (keyword === 'maximum') return Number(value) < BOUNDLESS;
    return keyword !== 'default' || !isEmpty(value);
  });
  const compact: JsonSchema = Object.fromEntries(kept);
  if (compact.description) compact.description = inMcpNames(withoutKeywords(compact.description, schema));
  if (compact.items) compact.items = compactInput(compact.items);
  if (compact.properties) {
    const properties = Object.entries(compact.properties).map(([name, child]) => [name, compactInput(child)]);
    compact.properties = Object.fromEntries(properties);
  }
  return compact;
}

/** Drops `(1-300, default 30)` from a description: minimum, maximum and default say the same. */
function withoutKeywords(description: string, { default: fallback, minimum }: JsonSchema): string {
  if (fallback === undefined && minimum === undefined) return description;
  return description.replace(
    / \((?:(?:from )?-?\d+(?:(?:-| to )\d+)?)?(?:, )?(?:default:? [^)]*)?\)\.$/,
    '.',
  );
}

/** Matches {} and [], which carry no information. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Returns names and types of the fields, one level deep, without those that a record marks as unlisted and those
 * that repeat a parameter. Nothing is required: an error's structured content is `{ error }`, and clients in
 * wide use check it against this schema as they check a result.
 */
function compactOutput(tool: Tool): JsonSchema {
  const given = inputJsonSchema(tool).required ?? [];
  const fields = Object.entries(outputJsonSchema(tool).properties ?? {}).filter(
    ([name]) => tool.output.shape[name]?.meta()?.['unlisted'] !== true,
  );
  const found = fields.filter(([name]) => !given.includes(name));
  const listed = found.length > 0 ? found : fields;
  const properties = Object.fromEntries(listed.map(([name, schema]) => [name, typeOnly(schema)]));
  return { type: 'object', properties };
}

/** Omits the type of text, since most fields are text. A type of several is listed as any, the same way. */
function typeOnly({ type }: JsonSchema): JsonSchema {
  return type === undefined || type === 'string' ? {} : { type };
}
