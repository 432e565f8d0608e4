/**
 * What an agent does with a document database, driven only through MCP: it finds its way to the orders, has the database
 * add up a month of them by region, saves that month into a sandbox without reading it itself, and charts it there.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface OrdersOptions {
  /** Of the service, such as http://127.0.0.1:7420. */
  url: string;
  apiKey: string;
  /** Where the picture goes. */
  chart: string;
  say(line: string): void;
}

export interface RegionTotal {
  region: string;
  orders: number;
  /** With two decimals. */
  revenue: string;
}

export interface OrdersOutcome {
  /** Such as 2026-05. */
  month: string;
  saved: number;
  /** Added up by the database, and again by Python from the file. */
  byDatabase: RegionTotal[];
  byPython: RegionTotal[];
  chart: { type: string; title: string | null };
}

type Result = Record<string, unknown>;
type Use = (tool: string, parameters: Result) => Promise<Result>;
type Names = { database_name: string; collection_name: string };

const COLLECTION = 'orders';
/** The program reads it. */
const FILE = 'orders.jsonl';
const program = join(import.meta.dirname, 'chart.py');

export async function chartOrders(options: OrdersOptions): Promise<OrdersOutcome> {
  const client = new Client({ name: 'orders', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', options.url), {
      requestInit: { headers: { authorization: `Bearer ${options.apiKey}` } },
    }),
  );
  const use: Use = async (tool, parameters) => {
    const answer = await client.callTool({ name: tool, arguments: parameters });
    const result = answer.structuredContent as Result;
    if (answer.isError) throw new Error(`${tool}: ${JSON.stringify(result['error'])}`);
    return result;
  };
  try {
    return await chartLastMonth(use, options);
  } finally {
    await client.close();
  }
}

async function chartLastMonth(use: Use, { chart: file, say }: OrdersOptions): Promise<OrdersOutcome> {
  const names = await findOrders(use);
  say(`the orders are in ${names.database_name}.${names.collection_name}`);
  const { from, to } = await lastWholeMonth(use, names);
  const month = from.toISOString().slice(0, 7);
  const within = { created_at: { $gte: { $date: from.toISOString() }, $lt: { $date: to.toISOString() } } };
  const byDatabase = await totalsByRegion(use, names, within);
  say(`orders of ${month} by region, as the database adds them up:\n${table(byDatabase)}`);
  const { id } = await use('Sandbox_CreateSandbox', { labels: { example: 'orders' } });
  const sandbox = String(id);
  try {
    const saved = await save(use, names, within, sandbox);
    say(`saved ${saved} orders as ${FILE} in ${sandbox}`);
    const title = `Orders of ${month}`;
    const { totals, chart, png } = await draw(use, sandbox, title);
    say(`the same from the file, as Python adds them up:\n${table(totals)}`);
    await writeFile(file, png);
    say(`the chart by region and day is in ${file}`);
    return { month, saved, byDatabase, byPython: totals, chart };
  } finally {
    await use('Sandbox_DeleteSandbox', { sandbox });
    say('deleted the sandbox');
  }
}

/** The first database that has them. */
async function findOrders(use: Use): Promise<Names> {
  const { result: databases } = await use('DocumentDb_DiscoverDatabases', {});
  for (const { name } of databases as { name: string }[]) {
    const { result } = await use('DocumentDb_DiscoverCollections', { database_name: name });
    const found = (result as { name: string }[]).some((collection) => collection.name === COLLECTION);
    if (found) return { database_name: name, collection_name: COLLECTION };
  }
  throw new Error(`no database has a collection '${COLLECTION}'`);
}

/** The month before that of the newest order, which the schema tells. */
async function lastWholeMonth(use: Use, names: Names): Promise<{ from: Date; to: Date }> {
  const { fields } = await use('DocumentDb_GetCollectionSchema', { ...names, sample_size: 10_000 });
  const created = (fields as { path: string; max?: { $date: string } }[]).find(
    ({ path }) => path === 'created_at',
  );
  const newest = new Date(created?.max?.$date ?? Number.NaN);
  if (Number.isNaN(newest.getTime())) throw new Error('created_at holds no dates');
  const firstOf = (offset: number) =>
    new Date(Date.UTC(newest.getUTCFullYear(), newest.getUTCMonth() + offset));
  return { from: firstOf(-1), to: firstOf(0) };
}

async function totalsByRegion(use: Use, names: Names, within: Result): Promise<RegionTotal[]> {
  const stages = [
    { $match: within },
    { $group: { _id: '$region', orders: { $sum: 1 }, revenue: { $sum: '$total' } } },
  ];
  const pipeline = stages.map((stage) => JSON.stringify(stage));
  const { result } = await use('DocumentDb_AggregateDocuments', { ...names, pipeline });
  return byRevenue(
    (result as string[])
      .map((text) => JSON.parse(text))
      .map(({ _id, orders, revenue }) => ({
        region: _id,
        orders,
        revenue: revenue.$numberDecimal ?? revenue,
      })),
  );
}

/** They go from the database into the file: neither the agent nor its model ever holds them. */
async function save(use: Use, names: Names, within: Result, sandbox: string): Promise<number> {
  const { saved } = await use('DocumentDb_FindDocuments', {
    ...names,
    filter_dict: JSON.stringify(within),
    projection: JSON.stringify({ _id: 0, created_at: 1, region: 1, total: 1 }),
    sort: [JSON.stringify({ field: 'created_at', direction: 1 })],
    save_to_sandbox: sandbox,
    save_to_path: FILE,
  });
  return (saved as { count: number }).count;
}

async function draw(use: Use, sandbox: string, title: string) {
  const code = (await readFile(program, 'utf8')).replace('TITLE', title);
  const { charts, exit_code, output, stdout } = await use('Sandbox_RunCode', { sandbox, code });
  if (exit_code !== 0) throw new Error(`the program failed:\n${output}`);
  const [chart] = charts as { type: string; title: string | null; png: string }[];
  if (!chart) throw new Error('the program drew nothing');
  return {
    totals: byRevenue(JSON.parse(String(stdout))),
    chart: { type: chart.type, title: chart.title },
    png: Buffer.from(chart.png, 'base64'),
  };
}

function byRevenue(totals: { region: unknown; orders: number; revenue: unknown }[]): RegionTotal[] {
  return totals
    .map(({ region, orders, revenue }) => ({
      region: String(region ?? '(none)'),
      orders,
      revenue: Number(revenue).toFixed(2),
    }))
    .sort((a, b) => Number(b.revenue) - Number(a.revenue));
}

function table(totals: readonly RegionTotal[]): string {
  const lines = [
    ['region', 'orders', 'revenue'],
    ...totals.map(({ region, orders, revenue }) => [region, String(orders), revenue]),
  ];
  return lines
    .map(
      ([region = '', orders = '', revenue = '']) =>
        `  ${region.padEnd(16)}${orders.padStart(8)}${revenue.padStart(16)}`,
    )
    .join('\n');
}

if (import.meta.main) {
  const { SANDBOX_API_URL, SANDBOX_API_KEY } = process.env;
  if (!SANDBOX_API_URL || !SANDBOX_API_KEY) {
    process.stderr.write(await readFile(join(import.meta.dirname, 'README.md'), 'utf8'));
    process.exit(2);
  }
  await chartOrders({
    url: SANDBOX_API_URL,
    apiKey: SANDBOX_API_KEY,
    chart: join(process.cwd(), 'orders.png'),
    say: (line) => process.stdout.write(`${line}\n`),
  });
}
