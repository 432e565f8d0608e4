/** Converts JSON Schema to Python types: a TypedDict for each record, with one name however often it occurs. */
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import { literal, pascal, quoted } from './text.ts';

/** A record with fewer fields gets a name wherever it occurs. */
const FIELDS_WORTH_SHARING = 3;

export class PythonTypes {
  readonly declarations: string[] = [];
  readonly names: string[] = [];
  readonly #byShape = new Map<string, string>();

  /** Declares `name`; as an alias when the same record already has a name. */
  declare(name: string, schema: JsonSchema): void {
    const known = this.#byShape.get(shapeOf(schema));
    if (known) {
      this.#add(name, `${name} = ${known}`);
      return;
    }
    this.#record(name, schema);
  }

  /** Returns the type of a value. @param name For a record in it that has no name yet. */
  typeOf(schema: JsonSchema, name: string): string {
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if ('const' in schema) return `Literal[${literal(schema['const'])}]`;
    if (schema.anyOf) return union(schema.anyOf.map((one) => this.typeOf(one, name)));
    const types: unknown = schema.type;
    if (Array.isArray(types)) return union(types.map((type) => this.typeOf({ ...schema, type }, name)));
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return `list[${this.typeOf(schema.items ?? {}, singular(name))}]`;
      case 'object':
        return schema.properties ? this.#known(schema, name) : this.#map(schema, name);
      default:
        return 'Any';
    }
  }

  #known(schema: JsonSchema, name: string): string {
    const known = this.#byShape.get(shapeOf(schema));
    if (known) return known;
    this.#record(name, schema);
    return name;
  }

  #record(name: string, schema: JsonSchema): void {
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties ?? {});
    if (fields.length >= FIELDS_WORTH_SHARING) this.#byShape.set(shapeOf(schema), name);
    const lines = new Map(
      fields.map(([field, value]) => {
        if (!/^[a-z_][a-z0-9_]*$/.test(field)) throw new Error(`${name}.${field} is no name in Python`);
        const type = this.typeOf(value, `${name.replace(/(?:Result|Parameters)$/, '')}${pascal(field)}`);
        const about = value.description ? `\n    ${quoted(value.description)}` : '';
        return [field, `    ${field}: ${type}${about}`] as const;
      }),
    );
    const linesOf = (isWanted: boolean) =>
      [...lines].filter(([field]) => required.has(field) === isWanted).map(([, line]) => line);
    const [always, sometimes] = [linesOf(true), linesOf(false)];
    if (always.length === 0 || sometimes.length === 0) {
      const options = always.length === 0 ? '(TypedDict, total=False)' : '(TypedDict)';
      this.#add(name, classOf(name, options, [...always, ...sometimes]));
      return;
    }
    // NotRequired is newer than the oldest Python that the package promises.
    const base = `_${name}Required`;
    const declared = [
      classOf(base, '(TypedDict)', always),
      classOf(name, `(${base}, total=False)`, sometimes),
    ];
    this.#add(name, declared.join('\n\n\n'));
  }

  #map(schema: JsonSchema, name: string): string {
    const values = schema['additionalProperties'];
    const described = typeof values === 'object' && values !== null && Object.keys(values).length > 0;
    return `dict[str, ${described ? this.typeOf(values as JsonSchema, name) : 'Any'}]`;
  }

  #add(name: string, declaration: string): void {
    if (this.names.includes(name)) throw new Error(`${name} stands for two types`);
    this.names.push(name);
    this.declarations.push(declaration);
  }
}

function classOf(name: string, bases: string, lines: string[]): string {
  return `class ${name}${bases}:\n${lines.length === 0 ? '    pass' : lines.join('\n')}`;
}

/** Drops everything that does not change the type, such as descriptions and bounds. */
function shapeOf(schema: JsonSchema): string {
  const kept = new Set(['type', 'properties', 'required', 'items', 'anyOf', 'enum', 'const']);
  const shape = (node: JsonSchema): unknown => {
    const entries = Object.entries(node).filter(([keyword]) => kept.has(keyword));
    const values = node['additionalProperties'];
    return [
      entries.map(([keyword, value]) => {
        if (keyword === 'properties') {
          return Object.entries(value as object).map(([name, field]) => [name, shape(field)]);
        }
        if (keyword === 'items') return ['items', shape(value as JsonSchema)];
        if (keyword === 'anyOf') return ['anyOf', (value as JsonSchema[]).map(shape)];
        return [keyword, value];
      }),
      typeof values === 'object' && values !== null ? shape(values as JsonSchema) : null,
    ];
  };
  return JSON.stringify(shape(schema));
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

function singular(name: string): string {
  if (/(?:ch|x|sh)es$/.test(name)) return name.slice(0, -2);
  if (/[a-z]ies$/.test(name)) return `${name.slice(0, -3)}y`;
  const one = name.endsWith('s') ? name.slice(0, -1) : `${name}Item`;
  // Results of tools are called so.
  return one.endsWith('Result') ? `${one}Item` : one;
}
