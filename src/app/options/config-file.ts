/**
 * The configuration file of the service: YAML, with a key for each flag, of the flag's name. What it says counts where neither
 * flag nor environment says something.
 */
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Node } from 'yaml';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { nearest } from '../../model/nearest.ts';

/** A text as the flag would have it, and the line that says it. */
export interface ConfiguredValue {
  text: string;
  line: number;
}

const MOST_BYTES = 256 * 1024;

/** Secrets have no key: a file of settings is copied, mailed and kept under version control. */
const secretKeys: Record<string, string> = {
  'api-key': 'SANDBOX_API_KEY',
  'documentdb-connection-string': 'DOCUMENTDB_CONNECTION_STRING',
  password: 'PGPASSWORD',
};

/**
 * Reads the file. Rejects with `invalid_argument` that names the file and the line.
 * @param known Names of all flags.
 */
export function readConfigFile(file: string, known: readonly string[]): Map<string, ConfiguredValue> {
  // Loaded for a file alone: most commands have none.
  const { isMap, isScalar, LineCounter, parseDocument } = createRequire(import.meta.url)(
    'yaml',
  ) as typeof import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number | undefined) => (offset === undefined ? 1 : lines.linePos(offset).line);
  const [fault] = document.errors;
  if (fault) throw wrong(`${file}:${lineOf(fault.pos[0])}`, `is no valid YAML: ${fault.message}`);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return new Map();
  if (!isMap(contents))
    throw wrong(`${file}:1`, 'must have a key for each option, such as data-dir: /srv/sandhaven');
  const values = new Map<string, ConfiguredValue>();
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const line = lineOf((key as Node | null)?.range?.[0]);
    if (!known.includes(name)) throw unknownKey(`${file}:${line}`, name, known);
    const text = textIn(value as Node | null, `${name} (${file}:${line})`);
    if (text !== null) values.set(name, { text, line });
  }
  return values;

  function textIn(node: Node | null, where: string): string | null {
    const list = node !== null && 'items' in node && !isMap(node) ? (node.items as Node[]) : null;
    if (list === null) return isScalar(node) || node === null ? scalarText(node) : refuse(where);
    const texts = list.map((item) => (isScalar(item) ? scalarText(item) : refuse(where)));
    if (texts.some((text) => text === null || text === '' || text.includes(',')))
      throw wrong(where, 'has an item that is empty or holds a comma');
    return texts.join(',');
  }
}

/** Returns a number as it is written: 1.10 is no 1.1. An option that takes yes or no takes YAML's true and false. */
function scalarText(node: { value: unknown; source?: string } | null): string | null {
  const value = node?.value ?? null;
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : (node?.source ?? String(value));
}

function refuse(where: string): never {
  throw wrong(where, 'must be a text, a number, yes or no, or a list of these');
}

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw wrong(file, `is larger than ${MOST_BYTES / 1024} KiB`);
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof SandhavenError) throw cause;
    const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new SandhavenError(
      'invalid_argument',
      `The configuration file ${file} cannot be read${reason}.`,
      { parameter: '--config', hint: 'Check the path, and that the service may read the file.' },
      cause,
    );
  }
}

function unknownKey(where: string, name: string, known: readonly string[]): SandhavenError {
  const variable = secretKeys[name];
  const [near] = nearest(name, known);
  const hint =
    variable === undefined
      ? `${near === undefined ? '' : `Did you mean ${near}? `}sandhaven up --help lists the options: a key is one without its dashes.`
      : `Secrets come by the environment: set ${variable}.`;
  return invalidArgument(where, `${where}: there is no option '${name.slice(0, 100)}'.`, hint);
}

function wrong(where: string, what: string): SandhavenError {
  return invalidArgument(where, `${where} ${what}.`, 'sandhaven config check FILE checks a file.');
}
