/** Writes the tool reference from the catalogue: docs/tools.md. */
import { literal, snake } from '../../sdk-python/generate/text.ts';
import { mcpName } from '../../src/catalog/call.ts';
import { descriptions, type ToolDescription } from '../../src/catalog/describe.ts';
import { tools } from '../../src/catalog/index.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import { BOUNDLESS } from '../../src/catalog/parameters/scalars.ts';
import { toolsets } from '../../src/catalog/toolsets.ts';
import { errorTable } from '../../src/model/errors.ts';
import { exampleOf } from './examples.ts';
import { errorsOf } from './failures.ts';

const INTRODUCTION = `# Tools

Every tool of the catalogue, by toolset. Made from the catalogue by \`make generate\`; never edited by hand.

A tool is called by the same name and parameters on every transport:

| transport | call |
| --- | --- |
| HTTP | \`POST /v1/tools/Sandbox.RunCommand\` with the parameters as a JSON object, and \`Authorization: Bearer <API_KEY>\` |
| MCP | the tool \`Sandbox_RunCommand\`, at \`/mcp\` or with \`sandhaven mcp\` |
| command line | \`sandhaven call Sandbox.RunCommand --command 'ls -la'\`; \`--json\` for the plain result |
| SDK | \`await client.runCommand({ command: 'ls -la' })\` |
| Python | \`client.run_command(command="ls -la")\` |

MCP clients can ask for some toolsets only: \`/mcp?toolsets=files,git\` or \`sandhaven mcp --toolsets files,git\`; \`sandhaven up
--toolsets …\` makes that the default. A toolset says what a client sees; the key still opens every tool.

A parameter that is not listed is refused. A result may have more fields than are listed. A tool marked *long* may take
over a minute: ask for \`Accept: text/event-stream\`, as the SDK and the command line do. RunCommand, RunCode and
RunSessionCommand then also show what is printed while it is: as \`output\` events, by \`onOutput\`, \`onStdout\` and
\`onStderr\` of the SDK (\`on_output\`, \`on_stdout\` and \`on_stderr\` in Python), and on the terminal. An event has \`stream\`, \`text\`, and \`left_out_bytes\` where some are missing before it; with
\`?output=bytes\` it has \`base64\` in place of \`text\`, and nothing is left out of what RunCommand and RunCode print: the
program waits while its client reads nothing, as for the reader of a pipe, until its timeout. GetSessionCommandLogs with
\`offset\` shows the log so, too.
`;

export function generateToolReference(): string {
  const groups = toolsets.map((toolset) => ({
    toolset,
    members: descriptions.filter((tool) => tool.toolset === toolset),
  }));
  const contents = groups.map(({ toolset, members }) => {
    const links = members.map(
      ({ name }) => `[${shortName(name)}](#${name.toLowerCase().replaceAll('.', '')})`,
    );
    return `- **${toolset}**: ${links.join(', ')}`;
  });
  return [
    INTRODUCTION,
    `${contents.join('\n')}\n`,
    errorTableText(),
    ...groups.flatMap(({ toolset, members }) => [`## ${capital(toolset)}\n`, ...members.map(toolText)]),
  ].join('\n');
}

function errorTableText(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, exit, title }]) => `| \`${code}\` | ${status} | ${exit} | ${title} |`,
  );
  return `## Errors

A failed call answers a problem object (RFC 9457) on every transport: \`code\`, \`detail\` (what is wrong), \`hint\` (what to
do next), \`parameter\` or \`resource\` where there is one, \`retryable\`, \`request_id\`. Any call can fail with \`unauthenticated\`,
\`invalid_argument\`, \`resource_exhausted\`, \`unavailable\` or \`internal\`; below, each tool names its own.

| code | HTTP status | exit status | |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function toolText(tool: ToolDescription): string {
  const short = shortName(tool.name);
  return [
    `### ${tool.name}\n`,
    `${tool.description}\n`,
    `${hints(tool)}\n`,
    parameters(tool.input_schema),
    results(tool.output_schema),
    failures(tool),
    examples(tool, exampleOf(short, tool.input_schema)),
  ].join('\n');
}

function hints({ annotations, long, idempotency_key }: ToolDescription): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const said = [
    readOnlyHint ? 'read-only' : destructiveHint ? 'destructive' : 'additive',
    ...(idempotentHint ? ['idempotent'] : []),
    ...(openWorldHint ? ['reaches beyond the service'] : []),
    ...(long ? ['long'] : []),
    ...(idempotency_key ? ['honours `Idempotency-Key`'] : []),
  ];
  return `*${said.join(', ')}*`;
}

function parameters({ properties = {}, required = [] }: JsonSchema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const fallback = required.includes(name) ? '**required**' : defaultOf(schema);
    return `| \`${name}\` | ${typeOf(schema)} | ${boundsOf(schema)} | ${fallback} | ${cell(schema.description ?? '')} |`;
  });
  if (rows.length === 0) return 'It takes no parameters.\n';
  return `| parameter | type | bounds | default | |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function results({ properties = {}, required = [] }: JsonSchema): string {
  const rows = fieldRows(properties, required, '');
  return `| result | type |\n| --- | --- |\n${rows.join('\n')}\n`;
}

/** Fields of nested records follow, as `files[].name`. */
function fieldRows(properties: Record<string, JsonSchema>, required: string[], prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const type = required.includes(name) ? typeOf(schema) : `${typeOf(schema)}, not always there`;
    const items = schema.type === 'array' ? schema.items : schema;
    const inner = items?.properties
      ? fieldRows(items.properties, items.required ?? [], `${path}${schema.type === 'array' ? '[]' : ''}.`)
      : [];
    return [`| \`${path}\` | ${type} |`, ...inner];
  });
}

function failures(tool: ToolDescription): string {
  const rows = errorsOf(tool).map(({ code, meaning }) => `- \`${code}\`: ${meaning}`);
  return rows.length === 0 ? '' : `Errors:\n\n${rows.join('\n')}\n`;
}

function examples(tool: ToolDescription, example: Record<string, unknown>): string {
  const json = JSON.stringify(example);
  const flags = Object.entries(example).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  const found = tools.find(({ name }) => name === tool.name);
  const mcp = JSON.stringify({ name: found ? mcpName(found) : tool.name, arguments: example });
  const [toolkit = '', short = ''] = tool.name.split('.');
  const owner = toolkit === 'Sandbox' ? 'client' : `client.${lowerFirst(toolkit)}`;
  const pythonOwner = toolkit === 'Sandbox' ? 'client' : `client.${snake(toolkit)}`;
  const keywords = Object.entries(example).map(([name, value]) => `${name}=${literal(value)}`);
  const given = Object.keys(example).length === 0 ? '' : json;
  return [
    '```sh',
    `curl "$SANDBOX_API_URL/v1/tools/${tool.name}" -H "Authorization: Bearer $SANDBOX_API_KEY" \\`,
    `  -H 'content-type: application/json' -d ${shellWord(json)}`,
    `sandhaven call ${tool.name}${flags.join('')}`,
    '```\n',
    '```js',
    `await ${owner}.${lowerFirst(short)}(${given}); // SDK`,
    `await mcp.callTool(${mcp}); // MCP`,
    '```\n',
    '```python',
    `${pythonOwner}.${snake(short)}(${keywords.join(', ')})`,
    '```\n',
  ].join('\n');
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' \\| ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
  return schema.type ?? 'any';
}

function boundsOf({ minimum, maximum, minLength, maxLength, type }: JsonSchema): string {
  if (type === 'string') {
    if (maxLength === undefined) return minLength ? 'not empty' : '';
    return `${minLength ?? 0} to ${maxLength} characters`;
  }
  if (minimum === undefined) return '';
  return maximum === undefined || maximum >= BOUNDLESS ? `from ${minimum}` : `${minimum} to ${maximum}`;
}

function defaultOf({ default: fallback }: JsonSchema): string {
  return fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``;
}

/** Escapes bars, which would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function shellWord(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (/^[\w./:@-]+$/.test(text)) return text;
  return text.includes('\n')
    ? `$'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`
    : `'${text.replaceAll("'", "'\\''")}'`;
}

function shortName(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
