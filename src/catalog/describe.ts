/** Catalogue as data, for lists of tools, OpenAPI, the documentation and the SDK. */

import type { Annotations, Tool } from './base/tool.ts';
import { allTools } from './index.ts';
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from './json-schema.ts';
import { type Toolset, toolsetOf } from './toolsets.ts';

export interface ToolDescription {
  name: string;
  title: string;
  description: string;
  input_schema: JsonSchema;
  output_schema: JsonSchema;
  annotations: Annotations;
  /** Group of the tool. */
  toolset: Toolset;
  /** true: it may take over a minute, so clients request an event stream. */
  long: boolean;
  /** true: it honours the header Idempotency-Key. */
  idempotency_key: boolean;
}

/** Derived once: the catalogue never changes while the service runs. */
export const descriptions: readonly ToolDescription[] = allTools.map(describeTool);

export function describeTool(tool: Tool): ToolDescription {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    input_schema: inputJsonSchema(tool),
    output_schema: outputJsonSchema(tool),
    annotations: tool.annotations,
    toolset: toolsetOf(tool),
    long: tool.long ?? false,
    idempotency_key: tool.idempotencyKey ?? false,
  };
}
