/**
 * Creates the MCP server of one HTTP exchange or one stdio connection: it lists the catalogue and passes
 * calls on. It uses low-level handlers rather than registered tools, so that the catalogue's schemas go out
 * unchanged and its own checks and errors are the only ones.
 */
import {
  type CallToolResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CallContext, Tool } from '../../catalog/base/tool.ts';
import { findTool, mcpName } from '../../catalog/call.ts';
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from '../../catalog/json-schema.ts';
import { BOUNDLESS } from '../../catalog/parameters/scalars.ts';
import { SandhavenError } from '../../model/errors.ts';
import { createProgressReporter } from './progress.ts';
import { type CallOutcome, inMcpNames, toCallToolResult } from './result.ts';

/** Carries out a call, in this process or in a remote service. Never rejects. */
export type CarryOut = (
  tool: Tool,
  parameters: Record<string, unknown>,
  options: Pick<CallContext, 'signal' | 'progress' | 'live'>,
) => Promise<CallOutcome>;

export interface ServerDependencies {
  version: string;
  /** Tools of this client; every other tool is unknown to it. */
  tools: readonly Tool[];
  carryOut: CarryOut;
  /** Receives every result before it is sent. */
  takeOut?: (result: CallToolResult) => CallToolResult;
  /** Called as each call begins; the returned function is called when it ends. */
  onCall?: (context: ServerContext) => () => void;
}

/** Lifetime of the list at a client: it changes only with the service's version. */
const listCache = { ttlMs: 5 * 60_000, cacheScope: 'private' as const };

export function serverInfo(version: string) {
  return { name: 'sandhaven', title: 'Sandhaven', version };
}

export function createServer({ version, tools, carryOut, takeOut, onCall }: ServerDependencies): Server {
  const server = new Server(serverInfo(version), {
    capabilities: { tools: {} },
    instructions,
    cacheHints: { 'tools/list': listCache, 'server/discover': listCache },
  });
  server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor === undefined) return { tools: listTools(tools) };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The list has one page; no cursor is valid.');
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = knownTool(params.name, tools);
    const ended = onCall?.(context);
    const { mcpReq } = context;
    const progress = createProgressReporter(mcpReq._meta?.progressToken, (notification) => {
      // The stream may have gone with the client; the call itself ends by its signal.
      mcpReq.notify({ ...notification }).catch(() => {});
    });
    try {
      const { report, live } = progress;
      const options = { signal: mcpReq.signal, progress: report, live };
      const result = toCallToolResult(tool, await carryOut(tool, params.arguments ?? {}, options));
      return takeOut?.(result) ?? result;
    } finally {
      progress.end();
      ended?.();
    }
  });
  return server;
}

/** An unknown tool is a fault of the request, not a failed call. */
function knownTool(name: string, tools: readonly Tool[]): Tool {
  try {
    return findTool(name, tools);
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    const hint = inMcpNames(error.fields.hint ?? '');
    const message = `Unknown tool. ${error.message} ${hint}`.trim();
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
}

/** Introduces the toolkit as a whole to a model, before it sees any tool. */
export const instructions = `Sandhaven gives you isolated Linux machines (sandboxes) to run code, commands and files in, and a window on a document database that only reads.

- Begin with Sandbox_CreateSandbox; it is ready when the call returns. Wherever a tool takes \`sandbox\`, give its name or id; where it is optional it may be left out while you have exactly one.
- Sandbox_RunCommand runs a shell command as root, with network, apt-get and pip. Sandbox_RunCode runs code in the sandbox's language, each call afresh: keep what must last in files. A failing command is a result with its exit_code, not an error.
- Relative paths start at /workspace. Files survive stop, archive and start.
- A sandbox that nobody uses stops after a while; Sandbox_StartSandbox brings it back. Delete what you no longer need with Sandbox_DeleteSandbox: that is final.
- A document database is read in an order: DocumentDb_DiscoverDatabases, DocumentDb_DiscoverCollections, DocumentDb_GetCollectionSchema of every collection you will use, then DocumentDb_FindDocuments, DocumentDb_CountDocuments or DocumentDb_AggregateDocuments. Read the notes of a result. What is large goes into a sandbox with save_to_sandbox, for Sandbox_RunCode.
- An error says what is wrong in \`detail\` and what to do next in \`hint\`; retry unchanged only where \`retryable\` is true.`;

// Lists the catalogue for MCP: everything a model needs to call a tool, in as few bytes as possible, since a
// client hands the whole list to its model at every turn. The full schemas are in GET /v1/tools, OpenAPI, the
// documentation and the SDK.

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
