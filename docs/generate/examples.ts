/** Builds an example of each tool's parameters: the required ones, with values that fit their names. */
import type { JsonSchema } from '../../src/catalog/json-schema.ts';

/** Keyed by parameter, and by `Tool.parameter` where a tool needs another value. */
const values: Record<string, unknown> = {
  sandbox: 'demo',
  path: 'src/main.py',
  'CreateFolder.path': 'build/out',
  'DeleteFile.path': 'old.txt',
  content: "print('hello')\n",
  source: 'draft.txt',
  destination: 'final.txt',
  pattern: '*.py',
  code: 'print(2 ** 100)',
  command: 'ls -la',
  'RunSessionCommand.command': 'npm run dev',
  labels: { team: 'search' },
  name: 'demo',
  'CreateSnapshot.name': 'node-24',
  image: 'node:24',
  snapshot: 'node-24',
  port: 5173,
  query: 'def main',
  'ReplaceInFiles.pattern': 'colour',
  replacement: 'color',
  files: ['src/*.py'],
  'GitAdd.files': ['.'],
  session_id: 'dev',
  command_id: 'cmd_1',
  input: 'yes',
  url: 'https://example.com/team/project.git',
  message: 'Fix the rounding of totals',
  ref: 'main',
  branch: 'fix-rounding',
  database_name: 'shop',
  collection_name: 'orders',
  pipeline: ['{ "$match": { "paid": true } }'],
};

/** Optional parameters that an example needs to be useful. */
const telling: Record<string, string[]> = {
  CreateSandbox: ['name'],
  ResizeSandbox: ['cpu'],
  ConfigureSandboxAuto: ['auto_stop_minutes'],
};

const numbers: Record<string, number> = { cpu: 4, auto_stop_minutes: 60 };

export function exampleOf(
  tool: string,
  { properties = {}, required = [] }: JsonSchema,
): Record<string, unknown> {
  const wanted = Object.keys(properties).filter(
    (name) => required.includes(name) || telling[tool]?.includes(name),
  );
  return Object.fromEntries(wanted.map((name) => [name, exampleValue(tool, name, properties[name] ?? {})]));
}

function exampleValue(tool: string, name: string, schema: JsonSchema): unknown {
  return values[`${tool}.${name}`] ?? values[name] ?? numbers[name] ?? byType(schema);
}

/** Returns a value for a parameter that is not in the table yet. */
function byType(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [byType(schema.items ?? {})];
    case 'object':
      return {};
    default:
      return 'example';
  }
}
