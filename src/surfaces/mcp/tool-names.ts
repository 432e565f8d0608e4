/**
 * Tools as MCP's clients know them: `Sandbox_StopSandbox`, wherever words of the service name one. The rest of
 * the service writes `Sandbox.StopSandbox`, or `StopSandbox` where the toolkit is plain.
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

/** What stands in quotes is a caller's own word, such as a file's name, and stays; it is matched first. */
const quoted = String.raw`(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|\`[^\`\n]*\``;
const known = [...renamed.keys()].map((name) => name.replace('.', '\\.')).join('|');
/** As a word of its own: not in a path, an address or a longer name. */
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

/** The notes that the service adds to a result; all else in it is the caller's data. */
export function resultInMcpNames(result: Record<string, unknown>): Record<string, unknown> {
  const { notes } = result;
  if (!Array.isArray(notes)) return result;
  return { ...result, notes: notes.map((note) => (typeof note === 'string' ? inMcpNames(note) : note)) };
}
