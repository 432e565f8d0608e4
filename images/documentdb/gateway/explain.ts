/** `explain`: PostgreSQL's plan of a query in the shape that MongoDB gives its own. */
import { type Document, deserialize, serialize } from 'bson';
import { checkedEnd } from './bson-shape.ts';
import type { Command, LoggedInCall } from './command.ts';
import { Fault } from './faults.ts';

/** Of PostgreSQL's JSON, what is looked at. */
interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Function Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  IndexDetails?: { indexName?: string }[];
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

/** A scan by the extension's own node is the scan below it; one below another is its input. */
function stageOf(node: PlanNode): Document {
  const [child, ...others] = node.Plans ?? [];
  if (child && others.length === 0 && !(node['Node Type'] in stages)) return stageOf(named(child, node));
  const stage: Document = {
    stage: stages[node['Node Type']] ?? node['Node Type'].toUpperCase().replaceAll(' ', '_'),
  };
  if (stage['stage'] === 'IXSCAN')
    stage['indexName'] = node.IndexDetails?.[0]?.indexName ?? node['Index Name'];
  if (child && others.length === 0) stage['inputStage'] = stageOf(named(child, node));
  else if (child) stage['inputStages'] = [child, ...others].map(stageOf);
  return stage;
}

/** The extension's node above a scan knows the name that a client gave the index. */
function named(child: PlanNode, parent: PlanNode): PlanNode {
  return parent.IndexDetails?.length && !child.IndexDetails
    ? { ...child, IndexDetails: parent.IndexDetails }
    : child;
}

function statsOf(plan: PlanNode, milliseconds: number): Document {
  const scans = leavesOf(plan);
  const rows = (node: PlanNode): number => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1);
  const dropped = (node: PlanNode): number =>
    ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
    (node['Actual Loops'] ?? 1);
  const keys = scans.filter((node) => stages[node['Node Type']] === 'IXSCAN');
  const sum = (nodes: PlanNode[], of: (node: PlanNode) => number): number =>
    Math.round(nodes.reduce((total, node) => total + of(node), 0));
  return {
    executionSuccess: true,
    nReturned: Math.round(rows(plan)),
    executionTimeMillis: Math.round(milliseconds),
    totalKeysExamined: sum(keys, rows),
    totalDocsExamined: sum(scans, (node) => rows(node) + dropped(node)),
    executionStages: stageOf(plan),
  };
}

function leavesOf(node: PlanNode): PlanNode[] {
  return node.Plans?.length ? node.Plans.flatMap(leavesOf) : [node];
}
