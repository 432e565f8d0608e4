/** Walks pipelines: each stage by the table, and every pipeline inside of one in the same way. */
import type { CollectionName } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { BSONValue } from '../bson/library.ts';
import { isPlainObject, type PlainObject } from './data.ts';
import { checkExpression, variableNames } from './expression.ts';
import { redactVariables } from './expression-operators.ts';
import { checkFilterDocument } from './filter.ts';
import { checkAccumulators, checkFills, checkGroup, checkWindows } from './groups.ts';
import { collectionNameFault } from './names.ts';
import { checkOrder, checkPath } from './order.ts';
import { type Place, quoted, refused, type Scope, within, withVariables } from './place.ts';
import { lookAlike, looksLikeOperator, unknownKey, unknownOperator } from './refusals.ts';
import { type Options, type Stage, type StageSlot, stages } from './stages.ts';

interface PipelineContext {
  home: CollectionName;
  /** Collects the name of every collection that it reads. */
  sources: Set<string>;
  scope: Scope;
  inFacet: boolean;
  /** The pipeline begins with documents of its own instead of a collection's. */
  sourceless: boolean;
}

/** Context of the current stage. */
interface StageContext extends PipelineContext {
  name: string;
  isFirst: boolean;
}

export function checkStages(pipeline: unknown, place: Place, context: PipelineContext): void {
  if (!Array.isArray(pipeline))
    throw refused(place, 'must be a list of stages.', 'Write [{"$match": …}, …].');
  if (pipeline.length > limits.documents.stages) {
    throw refused(place, `has more than ${limits.documents.stages} stages.`, 'Use fewer stages.');
  }
  for (const [index, stage] of pipeline.entries()) {
    checkStage(stage, within(place, index), context, index === 0);
  }
}

function checkStage(value: unknown, place: Place, context: PipelineContext, isFirst: boolean): void {
  const shape = 'Write one stage as {"$match": …}.';
  if (!isPlainObject(value)) throw refused(place, 'must be an object.', shape);
  const names = Object.keys(value);
  const [name] = names;
  if (name === undefined) throw refused(place, 'is empty.', shape);
  const here = within(place, name);
  // With several names, the error names the unknown one.
  for (const key of names) {
    if (!stages.has(key))
      throw unknownOperator(key, within(place, key), 'a stage of pipelines', stages.keys());
  }
  if (names.length > 1) {
    throw refused(place, 'has several stages.', 'Give each stage an object of its own.');
  }
  const stage = stages.get(name);
  if (stage === undefined) throw unknownOperator(name, here, 'a stage of pipelines', stages.keys());
  checkPosition(name, stage, here, context, isFirst);
  checkTaken(stage, value[name], here, { ...context, name, isFirst });
}

function checkPosition(
  name: string,
  stage: Stage,
  place: Place,
  context: PipelineContext,
  isFirst: boolean,
): void {
  if (stage.whole && context.inFacet) {
    throw refused(place, 'cannot stand in $facet.', 'Put it before $facet, or in a query of its own.');
  }
  if (stage.first && !isFirst) throw refused(place, 'must be the first stage.', 'Move it to the beginning.');
  if (name === '$documents' && !context.sourceless) {
    throw refused(
      place,
      'stands where the documents are those of a collection.',
      'Use it as the first stage in $lookup without from, or in $unionWith without coll.',
    );
  }
}

function checkTaken(stage: Stage, value: unknown, place: Place, context: StageContext): void {
  const slot = stage.or !== undefined && typeof value === 'string' ? stage.or : stage.takes;
  checkSlot(slot, value, place, context);
}

function checkSlot(slot: StageSlot, value: unknown, place: Place, context: StageContext): void {
  if (typeof slot === 'object') checkOptions(slot, value, place, context);
  else slots[slot](value, place, context);
}

const slots: Record<
  Exclude<StageSlot, Options>,
  (value: unknown, place: Place, context: StageContext) => void
> = {
  literal: () => {},
  text: checkText,
  texts: checkTexts,
  number: checkNumber,
  expression: (value, place, { scope }) => checkExpression(value, place, scope),
  expressions: checkExpressions,
  filter: (value, place, { scope, isFirst, inFacet, name }) =>
    checkFilterDocument(value, place, {
      scope,
      stands: isFirst && !inFacet && name === '$match' ? 'first' : 'later',
    }),
  order: (value, place) => checkOrder(objectOf(value, place), place),
  group: (value, place, { scope }) => checkGroup(objectOf(value, place), place, scope),
  accumulators: (value, place, { scope }) => checkAccumulators(objectOf(value, place), place, scope),
  windows: (value, place, { scope }) => checkWindows(objectOf(value, place), place, scope),
  fills: (value, place, { scope }) => checkFills(objectOf(value, place), place, scope),
  source: checkSource,
  variables: checkExpressions,
  pipeline: (value, place, context) => checkStages(value, place, { ...context, inFacet: false }),
  facets: (value, place, context) =>
    checkPipelines(value, place, { ...context, inFacet: true, sourceless: false }),
  pipelines: (value, place, context) => checkPipelines(value, place, { ...context, sourceless: false }),
  redact: (value, place, { scope }) => checkExpression(value, place, withVariables(scope, redactVariables)),
  search: (value, place, { scope }) => checkSearch(objectOf(value, place), place, scope),
};

function checkOptions(options: Options, value: unknown, place: Place, context: StageContext): void {
  const given = objectOf(value, place);
  const inner = contextInside(options, given, place, context);
  for (const key of Object.keys(given)) {
    const here = within(place, key);
    const slot = Object.hasOwn(options, key) ? options[key] : undefined;
    if (slot === undefined) throw unknownKey(key, here, context.name, Object.keys(options));
    checkSlot(slot, given[key], here, slot === 'pipeline' ? inner : context);
  }
}

/** Context of a join's pipeline: its variables are known, and its documents come from the named collection. */
function contextInside(
  options: Options,
  given: PlainObject,
  place: Place,
  context: StageContext,
): StageContext {
  const source = Object.keys(options).find((key) => options[key] === 'source');
  if (source === undefined) return context;
  const sourceless = !Object.hasOwn(given, source);
  if (sourceless && !beginsWithDocuments(given['pipeline'])) {
    throw refused(place, `has no ${source}.`, `Name the collection to read in ${source}.`);
  }
  const variables = 'let' in options ? given['let'] : undefined;
  const names = isPlainObject(variables) ? variableNames(variables, within(place, 'let')) : [];
  return { ...context, sourceless, scope: withVariables(context.scope, names) };
}

function beginsWithDocuments(pipeline: unknown): boolean {
  const first = Array.isArray(pipeline) ? pipeline[0] : undefined;
  return isPlainObject(first) && Object.hasOwn(first, '$documents');
}

function checkPipelines(value: unknown, place: Place, context: StageContext): void {
  const pipelines = objectOf(value, place);
  for (const key of Object.keys(pipelines)) {
    const here = within(place, key);
    checkPath(key, here);
    checkStages(pipelines[key], here, context);
  }
}

function checkExpressions(value: unknown, place: Place, { scope }: StageContext): void {
  const fields = objectOf(value, place);
  for (const key of Object.keys(fields)) {
    const here = within(place, key);
    checkPath(key, here);
    checkExpression(fields[key], here, scope);
  }
}

function checkSource(value: unknown, place: Place, { home, sources }: StageContext): void {
  if (isPlainObject(value)) {
    throw refused(
      place,
      'names a collection of another database, and a query reads only its own.',
      `Name a collection of ${quoted(home.database)} as a string, or query the other database by itself.`,
    );
  }
  if (typeof value !== 'string')
    throw refused(place, 'must be a string.', 'Name a collection of this database.');
  const fault = collectionNameFault(value);
  if (fault !== null) throw refused(place, `${fault}.`, 'Name a collection that DiscoverCollections lists.');
  sources.add(value);
}

function checkText(value: unknown, place: Place): void {
  if (typeof value !== 'string') throw refused(place, 'must be a string.', 'Write it as a JSON string.');
}

function checkTexts(value: unknown, place: Place): void {
  if (!Array.isArray(value)) checkText(value, place);
  else for (const [index, item] of value.entries()) checkText(item, within(place, index));
}

function checkNumber(value: unknown, place: Place): void {
  const isNumber =
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    /^(?:Int32|Long|Double|Decimal128)$/.test(bsonType(value));
  if (!isNumber) throw refused(place, 'must be a number.', 'Write it as a JSON number.');
}

function bsonType(value: unknown): string {
  return value instanceof BSONValue ? value._bsontype : '';
}

function objectOf(value: unknown, place: Place): PlainObject {
  if (isPlainObject(value)) return value;
  throw refused(place, 'must be an object.', 'Write it as a JSON object.');
}

/** Walks search queries: their own language has no operators, but may contain a filter. */
function checkSearch(search: PlainObject, place: Place, scope: Scope): void {
  for (const key of Object.keys(search)) {
    const here = within(place, key);
    if (key.startsWith('$')) throw unknownKey(key, here, 'a search', ['filter']);
    if (looksLikeOperator(key)) throw lookAlike(key, here);
    if (forTheServer.includes(key)) {
      throw refused(here, 'is for the server itself.', 'Use documented options only.');
    }
    checkPart(key, search[key], here, scope);
  }
}

/** Added by routers when they pass a search on to the servers behind them. */
const forTheServer: readonly string[] = [
  'mongotQuery',
  'protocolVersion',
  'metadataMergeProtocolVersion',
  'view',
];

function checkPart(key: string, value: unknown, place: Place, scope: Scope): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkPart('', item, within(place, index), scope);
  } else if (isPlainObject(value)) {
    if (key === 'filter') checkFilterDocument(value, place, { scope, stands: 'later' });
    else checkSearch(value, place, scope);
  }
}
