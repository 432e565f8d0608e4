/** Converts a call's outcome for an MCP client: structured content, and a short text beside it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Tool } from '../../catalog/base/tool.ts';
import { mcpName } from '../../catalog/call.ts';
import { allTools } from '../../catalog/index.ts';
import type { Problem } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

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

const renamed = new Map(
  allTools.flatMap((tool) => {
    const bare = tool.name.slice(tool.name.indexOf('.') + 1);
    return [
      [tool.name, mcpName(tool)],
      [bare, mcpName(tool)],
    ] as const;
  }),
);

/** Quoted text is a caller's own, such as a file name, and stays; it is matched first. */
const quoted = String.raw`(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|\`[^\`\n]*\``;
const known = [...renamed.keys()].map((name) => name.replace('.', '\\.')).join('|');
/** Matches whole words only: not in a path, an address or a longer name. */
const mention = new RegExp(String.raw`${quoted}|(?<![\w./-])(?:${known})(?![\w/-]|\.\w)`, 'g');

/**
 * Renames tools in the service's texts for MCP clients: `Sandbox_StopSandbox`. The rest of the service writes
 * `Sandbox.StopSandbox`, or `StopSandbox` where the toolkit is plain.
 */
export function inMcpNames(text: string): string {
  return text.replace(mention, (word) => renamed.get(word) ?? word);
}

function problemInMcpNames(problem: Problem): Problem {
  const { detail, hint } = problem;
  return {
    ...problem,
    detail: inMcpNames(detail),
    ...(hint === undefined ? {} : { hint: inMcpNames(hint) }),
  };
}

/** Renames in the service's notes; all else in a result is the caller's data. */
function resultInMcpNames(result: Record<string, unknown>): Record<string, unknown> {
  const { notes } = result;
  if (!Array.isArray(notes)) return result;
  return { ...result, notes: notes.map((note) => (typeof note === 'string' ? inMcpNames(note) : note)) };
}
