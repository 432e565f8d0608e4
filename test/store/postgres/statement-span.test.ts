/** Spans of work in PostgreSQL: they name statements, and hold neither their texts nor their values. */
import { expect, it } from 'vitest';
import { beneath } from '../../../src/concurrency/span.ts';
import { inStatementSpan } from '../../../src/store/postgres/sql.ts';
import { type Answer, statement, type Work } from '../../../src/store/sql/sql.ts';
import { recordTraces } from '../../tracing/recorded-spans.ts';

const find = statement("SELECT name FROM users WHERE name = :name AND role = 'canary-text'");
const change = statement('UPDATE sandboxes SET name = :name');

function* work(): Work<number> {
  yield* find.get({ name: 'canary-value' });
  return yield* change.run({ name: 'canary-value' });
}

/** Answers each statement with one row. */
async function answer<T>(made: () => Work<T>): Promise<T> {
  const running = made();
  const one: Answer = { rows: [], changes: 1 };
  let step = running.next();
  while (!step.done) step = running.next(one);
  return step.value;
}

it('work in the database is a span with the verb, the table and the prepared name of its first statement', async () => {
  const traces = recordTraces();
  const request = traces.tracer.begin({ name: 'request', attributes: {} });
  expect(await beneath(traces.tracer, request, () => inStatementSpan('write', work, answer))).toBe(1);
  request?.end('ok');
  const span = (await traces.spans()).find(({ name }) => name === 'store write');
  expect(span?.attributes).toEqual({
    'db.system.name': 'postgresql',
    'db.operation.name': 'SELECT',
    'db.collection.name': 'users',
    'sandhaven.statement': expect.stringMatching(/^[0-9a-f]{32}$/),
    'sandhaven.statements': 2,
    'sandhaven.outcome': 'ok',
  });
});

it('work outside of a trace is left as it is', async () => {
  const given: unknown[] = [];
  await inStatementSpan('read', work, async (made) => void given.push(made));
  expect(given).toEqual([work]);
});
