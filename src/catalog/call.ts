/** Calls a tool. Every surface uses this. */
import { inSpan } from '../concurrency/span.ts';
import { SandhavenError } from '../model/errors.ts';
import { nearest } from '../model/nearest.ts';
import { quotaOfRefusal } from '../model/quota.ts';
import { assertScope, isViewer, refusedToViewers, type Scope } from '../model/scopes.ts';
import { assertOpen } from './base/sandbox-view.ts';
import type { CallContext, Tool } from './base/tool.ts';
import { allTools } from './index.ts';
import { toolsetOf } from './toolsets.ts';
import { validateInput } from './validate.ts';

const SUGGESTIONS = 3;

const byName = new Map<string, Tool>(
  allTools.flatMap((tool) => [
    [tool.name, tool],
    [mcpName(tool), tool],
  ]),
);

/** Returns `Sandbox_CreateSandbox`: several model vendors reject a dot in a name. */
export function mcpName(tool: Tool): string {
  return tool.name.replace('.', '_');
}

/** Finds a tool by its identifier, with the dot or with `_`, at no more than the cost of looking: unlike `findTool`. */
export function toolNamed(name: string): Tool | null {
  return byName.get(name) ?? null;
}

/**
 * Finds a tool by its identifier, with the dot or with `_`. Throws `not_found`, naming the nearest.
 * @param selection The tools that the caller sees, where it sees only some.
 */
export function findTool(name: string, selection: readonly Tool[] = allTools): Tool {
  const tool = toolNamed(name);
  if (tool && selection.includes(tool)) return tool;
  if (tool) throw outsideSelection(tool);
  const names = selection.map((known) => known.name);
  const close = nearest(name, names, SUGGESTIONS);
  const bare = close.length > 0 ? close : nearest(`Sandbox${name}`, names, SUGGESTIONS);
  throw new SandhavenError('not_found', `There is no tool ${JSON.stringify(name.slice(0, 100))}.`, {
    resource: 'tool',
    hint:
      bare.length > 0
        ? `Did you mean ${bare.join(' or ')}?`
        : 'GET /v1/tools, tools/list or `sandhaven tools` lists all tools.',
  });
}

function outsideSelection(tool: Tool): SandhavenError {
  return new SandhavenError('not_found', `${tool.name} is not among the tools of this connection.`, {
    resource: 'tool',
    hint: `Its toolset is ${toolsetOf(tool)}: connect with that one too.`,
  });
}

/**
 * @param rawParameters The client's parameters, of any shape.
 * @returns The result, in the forms of docs/contract.md. Rejects with SandhavenError; anything else is a defect.
 */
export async function callTool(
  name: string,
  rawParameters: unknown,
  context: CallContext,
): Promise<Record<string, unknown>> {
  const tool = findTool(name);
  const { services, caller } = context;
  const audited = () =>
    services.audit.call({ ...context, action: tool.name }, async () => {
      assertOpen(caller, tool.name);
      assertScope(caller, scopeOf(tool));
      if (tool.forViewers === false && isViewer(caller)) throw refusedToViewers();
      try {
        return await tool.handler(validateInput(tool.input, rawParameters), context);
      } catch (error) {
        const quota = quotaOfRefusal(error);
        if (quota !== null) await services.webhooks.refused(caller, quota);
        throw error;
      }
    });
  return inSpan(tool.name, { 'sandhaven.toolset': toolsetOf(tool) }, audited);
}

/** Returns the scope that a key needs for the tool. */
export function scopeOf({ name, annotations }: Pick<Tool, 'name' | 'annotations'>): Scope {
  if (name.startsWith('DocumentDb.')) return 'documents:read';
  return annotations.readOnlyHint ? 'sandboxes:read' : 'sandboxes:write';
}
