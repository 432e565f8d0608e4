/** Converts JSON Schema to TypeScript, with one name for each record however often it occurs. */
import type { JsonSchema } from '../../src/catalog/json-schema.ts';

/** A record with fewer fields is written inline. */
const FIELDS_WORTH_A_NAME = 3;

export class TypeNames {
  readonly #byShape = new Map<string, string>();

  /** Returns the declaration of `name`; an alias when the same record already has a name. */
  declare(name: string, schema: JsonSchema): string {
    const shape = shapeOf(schema);
    const known = this.#byShape.get(shape);
    if (known) return `export type ${name} = ${known};`;
    const body = this.#record(schema, '');
    if (Object.keys(schema.properties ?? {}).length >= FIELDS_WORTH_A_NAME) this.#byShape.set(shape, name);
    return body === '{}'
      ? `export type ${name} = Record<string, never>;`
      : `export interface ${name} ${body}`;
  }

  /** Returns the type of a value, indented for its place. */
  typeOf(schema: JsonSchema, indent: string): string {
    const known = this.#byShape.get(shapeOf(schema));
    if (known) return known;
    if (schema.enum) return schema.enum.map((value) => literal(value)).join(' | ');
    if ('const' in schema) return literal(schema['const']);
    if (schema.anyOf) return union(schema.anyOf.map((one) => this.typeOf(one, indent)));
    const types: unknown = schema.type;
    if (Array.isArray(types)) return union(types.map((type) => this.typeOf({ ...schema, type }, indent)));
    switch (schema.type) {
      case 'string':
      case 'boolean':
      case 'null':
        return schema.type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array':
        return arrayOf(this.typeOf(schema.items ?? {}, indent));
      case 'object':
        return schema.properties ? this.#record(schema, indent) : this.#map(schema, indent);
      default:
        return 'unknown';
    }
  }

  #record(schema: JsonSchema, indent: string): string {
    const inner = `${indent}  `;
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const optional = required.has(name) ? '' : '?';
      const about = comment(field.description, inner);
      return [...about, `${inner}${keyOf(name)}${optional}: ${this.typeOf(field, inner)};`];
    });
    return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n${indent}}`;
  }

  #map(schema: JsonSchema, indent: string): string {
    const values = schema['additionalProperties'];
    const described = typeof values === 'object' && values !== null && Object.keys(values).length > 0;
    return `Record<string, ${described ? this.typeOf(values as JsonSchema, indent) : 'unknown'}>`;
  }
}

/** Returns the lines of a documentation comment; none without text. */
export function comment(text: string | undefined, indent: string): string[] {
  if (!text) return [];
  const safe = text.replaceAll('*/', '*\\/');
  if (safe.length + indent.length < 108) return [`${indent}/** ${safe} */`];
  const lines = [''];
  for (const word of safe.split(' ')) {
    const last = lines.length - 1;
    const line = lines[last] ?? '';
    if (line !== '' && line.length + word.length > 100) lines.push(word);
    else lines[last] = line === '' ? word : `${line} ${word}`;
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`];
}

/** Drops everything that does not change the type: descriptions, and the mark of fields that MCP's list leaves out. */
function shapeOf(schema: JsonSchema): string {
  const { $schema: _, description: __, ...shape } = schema;
  return JSON.stringify(shape, (key, value) => (key === 'unlisted' && value === true ? undefined : value));
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

function arrayOf(item: string): string {
  return /^[\w.]+$/.test(item) || (item.startsWith('{') && item.endsWith('}')) ? `${item}[]` : `(${item})[]`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

function literal(value: unknown): string {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);
}
