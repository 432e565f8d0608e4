/** Tools as the generators of clients see them: names, schemas, and pages. */

import type { Tool } from '../../src/catalog/base/tool.ts';
import { fullJsonSchema, type JsonSchema } from '../../src/catalog/json-schema.ts';

/** Toolkit whose tools are methods of the client itself; others get a namespace. */
export const FLAT = 'Sandbox';

export interface Described {
  /** CreateSandbox for Sandbox.CreateSandbox; the names of all toolkits are distinct. */
  typeName: string;
  /** createSandbox */
  method: string;
  toolkit: string;
  tool: Tool;
  input: JsonSchema;
  output: JsonSchema;
  paging: Paging | null;
}

export interface Paging {
  walk: 'byPage' | 'byOffset';
  parameter: 'page' | 'offset';
  items: string;
}

export function describe(tool: Tool): Described {
  const [toolkit = '', typeName = ''] = tool.name.split('.');
  const input = fullJsonSchema(tool.input, 'input');
  const output = fullJsonSchema(tool.output, 'output');
  return {
    tool,
    toolkit,
    typeName,
    method: lowerFirst(typeName),
    input,
    output,
    paging: pagingOf(input, output),
  };
}

/** Derived from the schemas: pages are numbered, or begin at an offset; the items are the only array. */
function pagingOf(input: JsonSchema, output: JsonSchema): Paging | null {
  const arrays = Object.entries(output.properties ?? {}).filter(([, { type }]) => type === 'array');
  const [items] = arrays.map(([name]) => name);
  if (items === undefined || arrays.length > 1) return null;
  if (input.properties?.['page'] && output.properties?.['total_pages']) {
    return { walk: 'byPage', parameter: 'page', items };
  }
  if (input.properties?.['offset'] && output.properties?.['has_more']) {
    return { walk: 'byOffset', parameter: 'offset', items };
  }
  return null;
}

export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
