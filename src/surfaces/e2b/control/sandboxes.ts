/** The control API of E2B's clients: sandboxes, their ends, and how they are used. */
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { GiB } from '../../../model/limits.ts';
import type { Sandbox, SeenSandbox } from '../../../model/sandbox.ts';
import { audited, type DaytonaCall as Call, type DaytonaRoute as Route } from '../../daytona/base/call.ts';
import { NotHere } from '../base/errors.ts';
import {
  endAfter,
  endNoEarlier,
  idIn,
  infoOf,
  isPausedAtEnd,
  recordInfo,
  shown,
  startedAnswer,
} from './answer.ts';
import { alias, create, USUAL_SECONDS } from './create.ts';

const ONE = '/sandboxes/:sandbox';
const PAGE_SIZE = 100;

export const controlRoutes: readonly Route[] = [
  ...both('POST', '/sandboxes', create, 201),
  {
    method: 'GET',
    path: '/sandboxes',
    handler: async (call) => (await listed(call, PAGE_SIZE, 'running')).items,
  },
  { method: 'GET', path: '/v2/sandboxes', handler: listPage },
  { method: 'GET', path: ONE, handler: get },
  { method: 'DELETE', path: ONE, handler: kill, status: 204 },
  { method: 'POST', path: `${ONE}/timeout`, handler: setTimeout, status: 204 },
  { method: 'POST', path: `${ONE}/refreshes`, handler: refresh, status: 204 },
  ...both('POST', `${ONE}/connect`, connect),
  { method: 'POST', path: `${ONE}/resume`, handler: connect },
  { method: 'GET', path: `${ONE}/metrics`, handler: metrics },
  { method: 'GET', path: '/templates/aliases/:alias', handler: alias },
  { method: 'POST', path: `${ONE}/pause`, handler: pause, status: 204 },
];

/** Clients of several generations ask on two paths. */
function both(method: Route['method'], path: string, handler: Route['handler'], status = 200): Route[] {
  return ['', '/v2'].map((version) => ({ method, path: version + path, handler, status }));
}

/** Sleep: a paused sandbox keeps its memory, and has no end until a client connects again. */
async function pause(call: Call): Promise<void> {
  const { id: sandbox, asleep_since } = await running(call);
  if (call.body['memory'] === false) throw new NotHere('memory: A paused sandbox keeps its memory here.');
  if (asleep_since !== undefined)
    throw new SandhavenError('invalid_state', `Sandbox ${call.params['sandbox']} is paused already.`);
  await call.action('PauseSandbox', { sandbox });
  await call.action('SetSandboxDeadline', { sandbox, seconds: 0 });
}

async function get(call: Call): Promise<unknown> {
  const view = await running(call);
  const { envdAccessToken, domain } = await startedAnswer(call, view);
  return {
    ...infoOf(view),
    ...{ envdAccessToken, domain },
    lifecycle: { onTimeout: isPausedAtEnd(view) ? 'pause' : 'kill', autoResume: view.wake === true },
  };
}

/** One that does not run is no sandbox of theirs. */
async function running(call: Call) {
  const view = await shown(call);
  if (view.state === 'started') return view;
  throw new SandhavenError('not_found', `Sandbox ${call.params['sandbox']} is not running.`);
}

async function kill(call: Call): Promise<void> {
  await call.tool('Sandbox.DeleteSandbox', { sandbox: idIn(call) });
}

async function setTimeout(call: Call): Promise<void> {
  await endAfter(call, await running(call), Number(call.body['timeout']));
}

async function refresh(call: Call): Promise<void> {
  await endNoEarlier(call, await running(call), call.body['duration']);
}

async function connect(call: Call): Promise<unknown> {
  const found = await shown(call);
  const isStopped = found.state !== 'started';
  const isPaused = found.asleep_since !== undefined;
  if (isStopped) await call.tool('Sandbox.StartSandbox', { sandbox: found.id });
  if (isPaused) await call.action('ResumeSandbox', { sandbox: found.id });
  if (isPaused && found.deadline_at === undefined)
    await endAfter(call, found, Number(call.body['timeout'] ?? USUAL_SECONDS));
  else await endNoEarlier(call, found, call.body['timeout']);
  call.reply.code(isStopped || isPaused ? 201 : 200);
  return startedAnswer(call, found);
}

/** Use at this moment: no other is kept. */
async function metrics(call: Call): Promise<unknown> {
  const { resources, usage } = (await call.tool('Sandbox.GetSandbox', { sandbox: idIn(call) })) as {
    resources: Record<'cpu' | 'memory' | 'disk', number>;
    usage: Record<'memory_bytes' | 'disk_bytes', number | null>;
  };
  const now = new Date();
  return [
    {
      ...{ timestamp: now.toISOString(), timestampUnix: Math.floor(now.getTime() / 1_000) },
      ...{ cpuCount: resources.cpu, cpuUsedPct: 0, memTotal: resources.memory * GiB, memCache: 0 },
      ...{
        memUsed: usage.memory_bytes ?? 0,
        diskUsed: usage.disk_bytes ?? 0,
        diskTotal: resources.disk * GiB,
      },
    },
  ];
}

async function listPage(call: Call): Promise<unknown> {
  const limit = Number(call.query['limit'] ?? PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_SIZE)
    throw invalidArgument('limit', `limit must be 1 to ${PAGE_SIZE}.`);
  const { items, next } = await listed(call, limit, call.query['state']);
  if (next !== null) call.reply.header('x-next-token', next);
  return items;
}

function listed(call: Call, limit: number, states: string | undefined) {
  const subject = { action: 'Sandbox.ListSandboxes', scope: 'sandboxes:read' } as const;
  return audited(call, subject, () => list(call, limit, states));
}

/** Returns those that run and are paused, newest first: no other is theirs. */
async function list(
  call: Call,
  limit: number,
  states = 'running,paused',
): Promise<{ items: unknown[]; next: string | null }> {
  const { metadata, nextToken, order, startedAfter, template } = call.query;
  const wantedStates = states.split(',');
  if (order !== undefined && order !== 'desc') throw new NotHere('A list of sandboxes is newest first here.');
  const labels = labelsIn(metadata);
  const since = startedAfter === undefined ? 0 : Date.parse(startedAfter);
  const isWanted = ({ createdAt, snapshot, asleepSince }: SeenSandbox) =>
    createdAt > since &&
    (template === undefined || (snapshot ?? 'base') === template) &&
    wantedStates.includes((asleepSince ?? null) === null ? 'running' : 'paused');
  const items: SeenSandbox[] = [];
  for (let page = 1; ; page += 1) {
    const wanted = { state: 'started' as const, ...(labels ? { labels } : {}) };
    const { sandboxes, totalCount } = await call.services.sandboxes.list(call.request.caller, wanted, {
      ...{ page, pageSize: PAGE_SIZE },
    });
    for (const sandbox of sandboxes) {
      if (!isAfter(sandbox, nextToken) || !isWanted(sandbox)) continue;
      if (items.length === limit) return { items: items.map(recordInfo), next: tokenOf(items.at(-1)) };
      items.push(sandbox);
    }
    if (page * PAGE_SIZE >= totalCount) return { items: items.map(recordInfo), next: null };
  }
}

function tokenOf(last: Sandbox | undefined): string | null {
  return last ? `${last.createdAt}.${last.id}` : null;
}

function isAfter({ createdAt, id }: Sandbox, token: string | undefined): boolean {
  if (token === undefined) return true;
  const [, at, last] = /^(\d{1,15})\.(\w+)$/.exec(token) ?? [];
  if (last === undefined) throw invalidArgument('nextToken', 'nextToken must be that of an answer.');
  return createdAt < Number(at) || (createdAt === Number(at) && id < last);
}

/** Clients encode the pairs twice. */
function labelsIn(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined || text === '') return undefined;
  return Object.fromEntries(
    [...new URLSearchParams(text)].map(([key, value]) => [decoded(key), decoded(value)]),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidArgument('metadata', 'metadata must be encoded as in a URL.');
  }
}
