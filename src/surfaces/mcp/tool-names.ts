/**
 * Renames tools in the service's texts for MCP clients: `Sandbox_StopSandbox`. The rest of the service writes
 * `Sandbox.StopSandbox`, or `StopSandbox` where the toolkit is plain.
 */
import { mcpName } from '../../catalog/call.ts';
import { tools } from '../../catalog/index.ts';
import type { Problem } from '../../model/errors.ts';

const renamed = new Map(
  tools.flatMap((tool) => {
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

export function inMcpNames(text: string): string {
  return text.replace(mention, (word) => renamed.get(word) ?? word);
}

export function problemInMcpNames(problem: Problem): Problem {
  const { detail, hint } = problem;
  return {
    ...problem,
    detail: inMcpNames(detail),
    ...(hint === undefined ? {} : { hint: inMcpNames(hint) }),
  };
}

/** Renames in the service's notes; all else in a result is the caller's data. */
export function resultInMcpNames(result: Record<string, unknown>): Record<string, unknown> {
  const { notes } = result;
  if (!Array.isArray(notes)) return result;
  return { ...result, notes: notes.map((note) => (typeof note === 'string' ? inMcpNames(note) : note)) };
}
