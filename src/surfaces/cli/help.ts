/** Texts of --help. */
import type { Action } from '../../administration/action.ts';
import type { Tool } from '../../catalog/base/tool.ts';
import { inputJsonSchema, type JsonSchema } from '../../catalog/json-schema.ts';
import { DEFAULT_DATA_DIR, DEFAULT_URL } from './connection.ts';
import type { Command } from './io.ts';

const WIDTH = 100;
const INDENT = 6;

export const commonHelp = `Everywhere:
  --json             print the plain result, and problems, as JSON
  --url URL          the service (SANDBOX_API_URL, ${DEFAULT_URL})
  --context NAME     a service that you logged in to (SANDHAVEN_CONTEXT, \`sandhaven context use\`)
  --team NAME        the team to act for (SANDHAVEN_TEAM, else that of the context)
  --data-dir DIR     where the service keeps its key (SANDHAVEN_DATA_DIR, ${DEFAULT_DATA_DIR})
  -h, --help         show help

The key is read from SANDBOX_API_KEY, else from the context (\`sandhaven login\`), else from the file
api-key in the data directory.
Exit status: 2 invalid, 3 not allowed, 4 not found, 5 conflict, 6 limit, 7 unavailable, 1 defect.
`;

export function mainHelp(commands: Record<string, Command>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `Usage: sandhaven COMMAND …

Self-hosted sandboxes and data access for language-model agents.

${lines.join('\n')}

\`sandhaven COMMAND --help\` shows more about each.

${commonHelp}`;
}

export function toolHelp(tool: Tool): string {
  return parametersHelp(`sandhaven call ${tool.name}`, tool);
}

export function actionHelp(action: Action): string {
  const { command, argument, words, role, description } = action;
  const taken = [argument, words]
    .filter((name) => name !== undefined)
    .map((name) => ` [${name.toUpperCase()}]`);
  const usage = `sandhaven ${command}${taken.join('')}`;
  const forAdmins = role === 'admin' ? ' For admins.' : '';
  return parametersHelp(usage, { ...action, description: description + forAdmins });
}

export function groupHelp(group: string, members: readonly Pick<Action, 'command' | 'title'>[]): string {
  const width = Math.max(...members.map(({ command }) => command.length));
  const lines = members.map(({ command, title }) => `  sandhaven ${command.padEnd(width)}  ${title}`);
  return `Usage: sandhaven ${group} …

${lines.join('\n')}

Each has --help of its own.

${commonHelp}`;
}

export function parametersHelp(
  usage: string,
  { input, description }: Pick<Tool, 'input' | 'description'>,
): string {
  const schema = inputJsonSchema({ input });
  const required = new Set(schema.required);
  const parameters = Object.entries(schema.properties ?? {})
    .sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)))
    .map(([name, child]) => parameterHelp(name, child, required.has(name)));
  return `Usage: ${usage} [--parameter VALUE …]

${wrap(description, 0)}

${parameters.length === 0 ? 'It takes no parameters.' : `Parameters:\n${parameters.join('\n')}`}

${commonHelp}`;
}

function parameterHelp(name: string, schema: JsonSchema, required: boolean): string {
  const flag = `  --${name.replaceAll('_', '-')} ${valueName(schema)}`.trimEnd();
  return `${flag}${required ? '  (required)' : ''}\n${wrap(schema.description ?? '', INDENT)}`;
}

function valueName({ type, enum: values, anyOf }: JsonSchema): string {
  if (anyOf) return anyOf.map((one) => (one.type === 'object' ? 'JSON' : valueName(one))).join('|');
  if (values) return values.join('|');
  const names: Record<string, string> = {
    boolean: '',
    integer: 'INTEGER',
    object: 'JSON | KEY=VALUE …',
    array: 'JSON | VALUE …',
  };
  return names[type ?? ''] ?? 'TEXT';
}

function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > WIDTH - indent) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => ' '.repeat(indent) + line).join('\n');
}
