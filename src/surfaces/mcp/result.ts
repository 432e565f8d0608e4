/** Converts a call's outcome for an MCP client: structured content, and a short text beside it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Tool } from '../../catalog/tool.ts';
import type { Problem } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { problemInMcpNames, resultInMcpNames } from './tool-names.ts';

export type CallOutcome = { result: Record<string, unknown> } | { problem: Problem };

export function toCallToolResult(tool: Tool, outcome: CallOutcome): CallToolResult {
  if ('problem' in outcome) {
    const problem = problemInMcpNames(outcome.problem);
    return {
      isError: true,
      structuredContent: { error: problem },
      content: [{ type: 'text', text: JSON.stringify(problem) }],
    };
  }
  const result = resultInMcpNames(outcome.result);
  const images = tool.images?.(result) ?? [];
  return {
    structuredContent: result,
    content: [
      { type: 'text', text: shorten(tool, tool.text?.(result) ?? JSON.stringify(result)) },
      ...images.map(({ data, mimeType }) => ({ type: 'image' as const, data, mimeType })),
    ],
  };
}

/** Parameters that make a result smaller. */
const SIZES = ['page_size', 'limit', 'max_items', 'max_count'];

/**
 * Sends a large payload once: clients that read only text get its beginning and its end, and the parameter that makes
 * it smaller.
 */
function shorten(tool: Tool, text: string): string {
  const excess = text.length - limits.mcpTextChars;
  if (excess <= 0) return text;
  const half = limits.mcpTextChars / 2;
  const size = SIZES.find((name) => name in tool.input.shape);
  const smaller = size === undefined ? '' : `; ask for a smaller ${size}`;
  const note = `\n… ${excess} characters left out here; structuredContent has all${smaller} …\n`;
  return `${text.slice(0, half)}${note}${text.slice(-half)}`.toWellFormed();
}
