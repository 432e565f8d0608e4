/** `explain`: converts PostgreSQL's plan of a query to the shape of MongoDB's. */
import { type Document, deserialize, serialize } from 'bson';
import { checkedEnd } from './bson-shape.ts';
import type { Command, LoggedInCall } from './command.ts';
import { Fault } from './faults.ts';

/** Used part of PostgreSQL's JSON. */
interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

const functions: Record<string, string> = {
  find: 'bson_aggregation_find',
  aggregate: 'bson_aggregation_pipeline',
  count: 'bson_aggregation_count',
  distinct: 'bson_aggregation_distinct',
};

const stages: Record<string, string> = {
  'Seq Scan': 'COLLSCAN',
  'Index Scan': 'IXSCAN',
  'Index Only Scan': 'IXSCAN',
  'Bitmap Index Scan': 'IXSCAN',
  'Bitmap Heap Scan': 'FETCH',
  'Incremental Sort': 'SORT',
  'Function Scan': 'EOF',
  Sort: 'SORT',
  Limit: 'LIMIT',
  Aggregate: 'GROUP',
  Unique: 'GROUP',
};

export const explainCommands: Record<string, Command> = { explain: { needsLogin: true, run: explain } };

async function explain({ database, request, role, signal }: LoggedInCall): Promise<Uint8Array> {
  const field = request.fields.get('explain');
  if (field?.type !== 3) throw new Fault('BadValue', 'explain needs a command');
  const inner = request.body.subarray(field.start, checkedEnd(request.body, field.start, field.end));
  const command = deserialize(inner);
  const [name = ''] = Object.keys(command);
  const source = functions[name];
  if (!source) throw new Fault('CommandNotSupported', `explain of ${name} is not supported`);
  const { verbosity = 'allPlansExecution' } = deserialize(request.body);
  const runs = verbosity !== 'queryPlanner';
  const sql = `EXPLAIN (FORMAT JSON, VERBOSE false, BUFFERS false, COSTS false, ANALYZE ${runs})
    SELECT document FROM documentdb_api_catalog.${source}($1, $2::bytea::documentdb_core.bson)`;
  const [row] = await database.run(role, sql, [request.database, inner], signal);
  const [explained] = (row?.['QUERY PLAN'] ?? []) as { Plan: PlanNode; 'Execution Time'?: number }[];
  if (!explained) throw new Fault('BadValue', 'the database gave no plan');
  const namespace = `${request.database}.${String(command[name])}`;
  const answer: Document = {
    explainVersion: '1',
    queryPlanner: { namespace, winningPlan: stageOf(explained.Plan), rejectedPlans: [] },
    command,
    ok: 1,
  };
  if (runs) answer['executionStats'] = statsOf(explained.Plan, explained['Execution Time'] ?? 0);
  return serialize(answer);
}

/** The extension's own node above a scan stands for that scan. */
function stageOf(node: PlanNode): Document {
  const [child, ...others] = node.Plans ?? [];
  if (child && others.length === 0 && !(node['Node Type'] in stages)) return stageOf(child);
  if (isWholeScan(node)) return { stage: 'COLLSCAN' };
  const kind = node['Node Type'];
  const stage = stages[kind] ?? kind.toUpperCase().replaceAll(' ', '_');
  if (stage === 'IXSCAN') {
    const scan = { stage, indexName: node['Index Name'] };
    // A bitmap scan has its fetch as a separate node.
    return kind === 'Bitmap Index Scan' ? scan : { stage: 'FETCH', inputStage: scan };
  }
  if (child && others.length === 0) return { stage, inputStage: stageOf(child) };
  return child ? { stage, inputStages: [child, ...others].map(stageOf) } : { stage };
}

/** All documents of a collection carry one shard key: an index scan on that alone returns all of them. */
function isWholeScan(node: PlanNode): boolean {
  const scan = node['Node Type'] === 'Bitmap Heap Scan' ? node.Plans?.[0] : node;
  if (!scan || stages[scan['Node Type']] !== 'IXSCAN') return false;
  return /^\(shard_key_value = '\d+'::bigint\)$/.test(scan['Index Cond'] ?? '');
}

function statsOf(plan: PlanNode, milliseconds: number): Document {
  const scans = scansOf(plan);
  return {
    executionSuccess: true,
    nReturned: Math.round(rowsOf(plan)),
    executionTimeMillis: Math.round(milliseconds),
    totalKeysExamined: sum(
      scans.filter((node) => !isWholeScan(node) && /Index|Bitmap/.test(node['Node Type'])).map(seenBy),
    ),
    totalDocsExamined: sum(scans.map(seenBy)),
    executionStages: stageOf(plan),
  };
}

/** Returns the nodes that read documents: the heap scan over a bitmap, not the bitmap below it. */
function scansOf(node: PlanNode): PlanNode[] {
  if (/Scan$/.test(node['Node Type']) && node['Node Type'] in stages) return [node];
  return (node.Plans ?? []).flatMap(scansOf);
}

function seenBy(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return rowsOf(node) + removed * (node['Actual Loops'] ?? 1);
}

function rowsOf(node: PlanNode): number {
  return (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1);
}

function sum(numbers: number[]): number {
  return Math.round(numbers.reduce((total, number) => total + number, 0));
}
