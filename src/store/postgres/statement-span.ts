/** Spans of work in the database. They name the first statement by its verb, its table and its prepared name, never its text. */
import { inSpan, type Span } from '../../concurrency/span.ts';
import type { Request, Work } from '../sql/sql.ts';
import { numbered } from './placeholders.ts';

const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:INTO|UPDATE|FROM)\s+([a-z_]+)/i;

/**
 * @param kind Such as `read` or `write`.
 * @param run Gets the work, with its statements counted.
 */
export function inStatementSpan<T, R>(
  kind: string,
  work: () => Work<T>,
  run: (work: () => Work<T>) => Promise<R>,
): Promise<R> {
  return inSpan(`store ${kind}`, { 'db.system.name': 'postgresql' }, (span) =>
    run(span ? () => noted(span, work()) : work),
  );
}

function* noted<T>(span: Span, work: Work<T>): Work<T> {
  let statements = 0;
  let step = work.next();
  while (!step.done) {
    if (++statements === 1) span.set(labelOf(step.value));
    step = work.next(yield step.value);
  }
  span.set({ 'sandhaven.statements': statements });
  return step.value;
}

function labelOf({ statement }: Request) {
  const verb = VERB.exec(statement.text)?.[1]?.toUpperCase();
  const table = TABLE.exec(statement.text)?.[1];
  return {
    'sandhaven.statement': numbered(statement).name,
    ...(verb ? { 'db.operation.name': verb } : {}),
    ...(table ? { 'db.collection.name': table } : {}),
  };
}
