/** Explains refused operators: the reason, and the alternative. */
import type { SandhavenError } from '../../model/errors.ts';
import { nearest } from '../../model/nearest.ts';
import { accumulators, expressionOperators, windowFunctions } from './expression-operators.ts';
import { type Place, quoted, refused } from './place.ts';
import { documentOperators, fieldOperators } from './query-operators.ts';
import { stages } from './stages.ts';

interface Reason {
  why: string;
  instead: string;
}

/** @param kind Kind of this place: "a stage", "an operator of filters" … */
export function unknownOperator(
  name: string,
  place: Place,
  kind: string,
  known: Iterable<string>,
): SandhavenError {
  const names = [...known];
  const reason = reasons.get(name.toLowerCase());
  if (reason) return refused(place, reason.why, reason.instead);
  if (/^\$_?internal/i.test(name) || name.startsWith('$_')) {
    return refused(place, 'is for the server itself.', 'Use documented operators only.');
  }
  const [close] = nearest(name, names);
  if (close !== undefined) return refused(place, `is not ${kind}.`, `Did you mean ${close}?`);
  return refused(place, `is not ${kind}.`, elsewhere(name) ?? `This place takes ${listed(names)}.`);
}

/** Refuses a key outside a closed set. */
export function unknownKey(key: string, place: Place, of: string, known: Iterable<string>): SandhavenError {
  const names = [...known];
  if (key === 'db') {
    return refused(
      place,
      'names another database, and a query reads only its own.',
      'Query the other database by itself, with its own database_name.',
    );
  }
  const reason = reasons.get(key.toLowerCase());
  if (reason) return refused(place, reason.why, reason.instead);
  const [close] = nearest(key, names);
  const hint = close === undefined ? `It takes ${listed(names)}.` : `Did you mean ${close}?`;
  return refused(place, `is no option of ${of}.`, hint);
}

/**
 * Returns true for a key that a reader takes for an operator, although the server takes it for a field: a
 * dollar of another script, or something invisible before it.
 */
export function looksLikeOperator(key: string): boolean {
  return !key.startsWith('$') && /^[\p{C}\p{Z}\p{M}]*[$\uff04\ufe69]/u.test(key);
}

export function lookAlike(key: string, place: Place): SandhavenError {
  return refused(
    place,
    `only looks like an operator: it is ${quoted(key)}.`,
    'Write operators with "$" (U+0024) as the very first character.',
  );
}

const writes: Reason = {
  why: 'would write, and this access only reads.',
  instead: 'Leave it out: the result comes back with the answer, or goes into a file with save_to_sandbox.',
};
const update: Reason = {
  why: 'is an update operator, and this access only reads.',
  instead: 'Leave it out.',
};
const javascript: Reason = {
  why: 'would run JavaScript on the server.',
  instead: 'Use query operators, or aggregation expressions (in a filter: {"$expr": …}).',
};
const accumulator: Reason = {
  why: javascript.why,
  instead: 'Use the accumulators that there are, such as $sum, $avg, $push, $topN and $percentile.',
};
const internals: Reason = {
  why: "would read the server's internals.",
  instead: 'Read collections; DiscoverCollections and GetCollectionSchema show counts, indexes and types.',
};
const stream: Reason = {
  why: 'would wait for changes, and a query answers once.',
  instead: 'Filter by a time or an _id to see what is new.',
};

/** Keys in lower case: `$OUT` is meant as `$out`. */
const reasons: ReadonlyMap<string, Reason> = new Map([
  ...all(writes, '$out $merge'),
  ...all(update, '$inc $mul $rename $setOnInsert $currentDate $pull $pullAll $pop $bit $each $position'),
  ...all(javascript, '$where $function $_internalJsEmit'),
  ...all(accumulator, '$accumulator'),
  ...all(stream, '$changeStream $changeStreamSplitLargeEvent'),
  ...all(internals, '$currentOp $collStats $indexStats $planCacheStats $listSessions $listLocalSessions'),
  ...all(internals, '$listSampledQueries $listSearchIndexes $listCatalog $listClusterCatalog $queryStats'),
  ...all(internals, '$listMqlEntities $listExtensions $listCachedAndActiveUsers $querySettings $telemetry'),
  ...all(internals, '$shardedDataDistribution $operationMetrics $backupCursor $backupCursorExtend $queue'),
  ...all(internals, '$mergeCursors $inverseMatch $setVariableFromSubPipeline $natural'),
]);

function all(reason: Reason, names: string): [string, Reason][] {
  return names.split(' ').map((name) => [name.toLowerCase(), reason]);
}

function elsewhere(name: string): string | undefined {
  if (expressionOperators.has(name)) {
    return `${name} is an operator of expressions: in a filter {"$expr": {"${name}": …}}, or in a stage such as $addFields.`;
  }
  if (documentOperators.has(name)) return `${name} belongs beside the fields of a filter, not under one.`;
  if (fieldOperators.has(name))
    return `${name} belongs under a field of a filter: {"field": {"${name}": …}}.`;
  if (stages.has(name)) return `${name} is a stage of pipelines: call AggregateDocuments.`;
  if (accumulators.has(name)) return `${name} is an accumulator: it belongs in the fields of $group.`;
  if (windowFunctions.has(name)) return `${name} belongs in the output of $setWindowFields.`;
  return undefined;
}

const LISTED = 12;

function listed(names: readonly string[]): string {
  const more = names.length > LISTED ? ' and others' : '';
  return names.slice(0, LISTED).join(', ') + more;
}
