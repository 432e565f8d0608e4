/** The fields of a collection as a tree: types, how often each is there, and values. */
import classes from './documents.module.css';

export interface Field {
  path: string;
  probability: number;
  types?: { type: string; probability?: number }[];
  examples?: unknown[];
  enum?: unknown[];
  min?: unknown;
  max?: unknown;
  fields?: Field[];
}

const MOST_VALUES = 6;

export function SchemaTree({ fields }: { fields: Field[] }) {
  if (fields.length === 0) return <div className="dimmed">The collection has no documents.</div>;
  return (
    <ul className={classes['fields']}>
      {fields.map((field) => (
        <li key={field.path}>
          <div className={classes['field']}>
            <code className="break">{field.path}</code>
            <span className={classes['types']}>
              {(field.types ?? []).map(({ type }) => type).join(' | ')}
            </span>
            <span className="dimmed small numbers">{Math.round(field.probability * 100)} %</span>
            <span className="dimmed small break grow">{valuesOf(field)}</span>
          </div>
          {field.fields && field.fields.length > 0 && <SchemaTree fields={field.fields} />}
        </li>
      ))}
    </ul>
  );
}

function valuesOf({ enum: values, min, max, examples }: Field): string {
  if (values && values.length > 0) return `one of ${listed(values)}`;
  if (min !== undefined && max !== undefined) return `${text(min)} to ${text(max)}`;
  return examples && examples.length > 0 ? `such as ${listed(examples)}` : '';
}

function listed(values: unknown[]): string {
  const more = values.length > MOST_VALUES ? ', …' : '';
  return values.slice(0, MOST_VALUES).map(text).join(', ') + more;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
