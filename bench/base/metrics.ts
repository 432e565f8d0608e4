/** Defines the metrics: units, rivals and targets. */
import type { Side } from './interleave.ts';

export type Unit = 'ms' | 's' | 'KB' | 'MB' | 'MB/s' | '×';

export interface Target {
  /** Required ratio of ours to the rival. */
  ratio?: number;
  /** In the metric's unit, for a two-core machine at rest. */
  bound?: number;
  /** Side whose median must meet the bound, unless it is the first column's. */
  boundOf?: Side;
}

/** Rival of ours: Docker's command line, or MongoDB's own tool server. */
export type Rival = 'docker' | 'mongodbMcp';

export interface Metric {
  title: string;
  unit: Unit;
  better: 'lower' | 'higher';
  target: Target;
  against: Rival;
}

export interface Column {
  title: string;
  side: Side;
}

/** Columns of a table besides ours: the rival first. */
export const columnsOf: Record<Rival, readonly Column[]> = {
  docker: [
    { title: 'Docker', side: 'docker' },
    { title: 'Docker API', side: 'dockerApi' },
  ],
  mongodbMcp: [
    { title: 'mongodb-mcp-server', side: 'mongodbMcp' },
    { title: 'by stdio', side: 'sandhavenStdio' },
    { title: 'by HTTP API', side: 'sandhavenHttp' },
    { title: 'bare driver', side: 'driver' },
  ],
};

/** MB is 10^6 bytes, KB 10^3. */
const lower = (title: string, unit: Unit, target: Target = {}): Metric => ({
  title,
  unit,
  better: 'lower',
  target,
  against: 'docker',
});
const higher = (title: string, unit: Unit, target: Target = {}): Metric => ({
  title,
  unit,
  better: 'higher',
  target,
  against: 'docker',
});
/** The service's own part, without an MCP client's time for reading an answer. */
const service = (target: Target): Target => ({ ...target, boundOf: 'sandhavenHttp' });
const documents = (metric: Metric): Metric => ({ ...metric, against: 'mongodbMcp' });

export const metrics = {
  createCold: lower('create to ready, cold', 'ms', { ratio: 1 / 4, bound: 80 }),
  createColdUsed: lower('create to first command, cold', 'ms'),
  createWarm: lower('create to ready, warm pool', 'ms', { ratio: 1 / 20, bound: 8 }),
  createWarmUsed: lower('create to first command, warm pool', 'ms'),
  createWarmNode: lower('create to first node -v, warm pool', 'ms'),
  remove: lower('delete', 'ms'),
  createColdHot: lower('create to ready, cold, back to back', 'ms'),
  createColdRested: lower('… after 500 ms of rest', 'ms'),
  createWarmHot: lower('create to ready, warm pool, back to back', 'ms'),
  createWarmRested: lower('… after 500 ms of rest', 'ms'),
  removeHot: lower('delete, back to back', 'ms'),
  removeRested: lower('… after 500 ms of rest', 'ms'),
  runCommandHot: lower('RunCommand true, back to back', 'ms'),
  runCommandRested: lower('… after 500 ms of rest', 'ms'),
  writeDurableHot: lower('1 KiB file written, durable, back to back', 'ms'),
  writeDurableRested: lower('… after 500 ms of rest', 'ms'),
  plainWriteHot: lower('1 KiB and fdatasync inside, back to back', 'ms'),
  plainWriteRested: lower('… after 500 ms of rest', 'ms'),
  launchedSingly: lower('launched one after another, to node -v', 'ms'),
  launchedStaggered: lower('launched each 200 ms, to node -v', 'ms'),
  launchedTogether: lower('launched all at once, to node -v', 'ms'),
  burst: lower('50 at once, ready and used', 's'),
  requestFloor: lower('doing nothing (request, CLI)', 'ms'),
  runCommand: lower('RunCommand true', 'ms', { ratio: 1 / 5, bound: 5 }),
  runCode: lower('RunCode print(1)', 'ms', { bound: 10 }),
  runChart: lower('RunCode, a chart of pandas', 'ms', { bound: 340 }),
  runTypescript: lower('RunCode, TypeScript', 'ms', { bound: 35 }),
  sessionCommand: lower('session command true', 'ms', { bound: 6 }),
  writeSmall: lower('1 KiB file written', 'ms', { bound: 2 }),
  writeDurable: lower('1 KiB file written, durable', 'ms'),
  readSmall: lower('1 KiB file read', 'ms', { bound: 2 }),
  upload: higher('100 MB in', 'MB/s', { bound: 300 }),
  download: higher('100 MB out', 'MB/s', { bound: 300 }),
  searchText: higher('search for text, faster than grep', '×', { bound: 3 }),
  searchWords: higher('search for words, faster than grep', '×', { bound: 3 }),
  searchExpression: higher('search for an expression, faster', '×', { bound: 3 }),
  searchClasses: higher('search for classes, faster than grep', '×', { bound: 3 }),
  searchTextRg: higher('search for text, faster than rg -j2', '×'),
  searchWordsRg: higher('search for words, faster than rg -j2', '×'),
  searchExpressionRg: higher('search for an expression, than rg -j2', '×'),
  searchClassesRg: higher('search for classes, faster than rg -j2', '×'),
  gitStatus: lower('GitStatus, 10,000 files', 'ms'),
  gitStatusCost: lower('GitStatus beyond git itself', 'ms', { bound: 10 }),
  previewAdded: lower('a request through a preview, beyond a direct one', 'ms', { bound: 1 }),
  previewDownload: higher('300 MB out through a preview', 'MB/s', { bound: 300 }),
  sshExec: lower('SSH exec true on an open connection', 'ms', { bound: 10 }),
  sshDownload: higher('100 MB out over SSH', 'MB/s'),
  terminalKey: lower('a key echoed in a terminal, over a WebSocket', 'ms', { bound: 5 }),
  sshKey: lower('a key echoed over SSH', 'ms'),
  idleMemory: lower('host memory per idle sandbox', 'MB', { bound: 3 }),
  serviceMemory: lower('service RSS', 'MB', { bound: 150 }),
  agentSize: lower('agent binary', 'MB', { bound: 4 }),
  findMany: documents(lower('1,000 documents found', 'ms', { ratio: 1 / 2 })),
  findManyBeyond: documents(lower('… beyond the bare read of them', 'ms', service({ bound: 8 }))),
  findManySize: documents(lower('… the answer', 'KB', { ratio: 1 / 2 })),
  findFew: documents(lower('10 documents found', 'ms')),
  findFewSize: documents(lower('… the answer', 'KB')),
  countDocuments: documents(lower('documents counted', 'ms')),
  aggregateDocuments: documents(lower('documents grouped', 'ms')),
  schema: documents(lower('schema of 1,000 documents', 'ms')),
  schemaBeyond: documents(lower('… beyond the bare sampling', 'ms', service({ bound: 15 }))),
  schemaSize: documents(lower('… the answer', 'KB')),
  schemaMany: documents(lower('schema of 100,000 documents', 'ms')),
  schemaManyBeyond: documents(lower('… beyond the bare sampling', 'ms', service({ bound: 400 }))),
  sixTools: documents(lower('definitions of the six tools', 'KB', { bound: 7 })),
  listedTools: documents(lower('definitions of all tools for documents', 'KB')),
  documentsMemory: documents(lower('resident memory after that', 'MB')),
  documentsGrowth: documents(lower('… grown since the first call', 'MB')),
} satisfies Record<string, Metric>;

export type MetricId = keyof typeof metrics;
