/** The control API of E2B's clients: sandboxes, their ends, and how they are used. */
import { toSandboxView } from '../../../catalog/base/sandbox-view.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { GiB } from '../../../model/limits.ts';
import type { SeenSandbox } from '../../../model/sandbox.ts';
import { audited, type DaytonaCall as Call, type DaytonaRoute as Route } from '../../daytona/base/call.ts';
import {
  endAfter,
  endNoEarlier,
  endOf,
  idIn,
  infoOf,
  isPaused,
  pauseNow,
  recordInfo,
  shown,
  startedAnswer,
} from './answer.ts';
import { alias, create, fork, setNetwork, USUAL_SECONDS } from './create.ts';
import { PAGE_SIZE, pageOf } from './pages.ts';

const ONE = '/sandboxes/:sandbox';

export const sandboxRoutes: readonly Route[] = [
  ...both('POST', '/sandboxes', create, 201),
  { method: 'GET', path: '/sandboxes', handler: (call) => listed(call, 'running') },
  { method: 'GET', path: '/v2/sandboxes', handler: (call) => listed(call, call.query['state']) },
  { method: 'GET', path: ONE, handler: get },
  { method: 'DELETE', path: ONE, handler: kill, status: 204 },
  { method: 'POST', path: `${ONE}/timeout`, handler: setTimeout, status: 204 },
  { method: 'POST', path: `${ONE}/refreshes`, handler: refresh, status: 204 },
  ...both('POST', `${ONE}/connect`, connect),
  { method: 'POST', path: `${ONE}/resume`, handler: connect },
  { method: 'GET', path: `${ONE}/metrics`, handler: metrics },
  { method: 'GET', path: '/templates/aliases/:alias', handler: alias },
  { method: 'POST', path: `${ONE}/pause`, handler: pause, status: 204 },
  { method: 'POST', path: `${ONE}/fork`, handler: fork, status: 201 },
  { method: 'PUT', path: `${ONE}/network`, handler: setNetwork, status: 204 },
];

/** Clients of several generations ask on two paths. */
function both(method: Route['method'], path: string, handler: Route['handler'], status = 200): Route[] {
  return ['', '/v2'].map((version) => ({ method, path: version + path, handler, status }));
}

async function pause(call: Call): Promise<void> {
  const view = await settled(call);
  if (isPaused(view))
    throw new SandhavenError('invalid_state', `Sandbox ${call.params['sandbox']} is paused already.`);
  await pauseNow(call, view.id, call.body['memory'] !== false);
  await call.action('SetSandboxDeadline', { sandbox: view.id, seconds: 0 });
}

async function get(call: Call): Promise<unknown> {
  const view = await settled(call);
  const { envdAccessToken, domain } = await startedAnswer(call, view);
  return {
    ...infoOf(view),
    ...{ envdAccessToken, domain },
    lifecycle: { onTimeout: endOf(view) === 'delete' ? 'kill' : 'pause', autoResume: view.wake === true },
  };
}

/** States of sandboxes that clients know: they run, or a connection starts them. */
const theirs: readonly string[] = ['started', 'stopped', 'archived'];

async function settled(call: Call) {
  const view = await shown(call);
  if (theirs.includes(view.state)) return view;
  throw new SandhavenError('not_found', `Sandbox ${call.params['sandbox']} was not found.`);
}

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
  const wasPaused = isPaused(found);
  if (found.state !== 'started') await call.tool('Sandbox.StartSandbox', { sandbox: found.id });
  else if (wasPaused) await call.action('ResumeSandbox', { sandbox: found.id });
  if (wasPaused && found.deadline_at === undefined)
    await endAfter(call, found, Number(call.body['timeout'] ?? USUAL_SECONDS));
  else await endNoEarlier(call, found, call.body['timeout']);
  call.reply.code(wasPaused ? 201 : 200);
  return startedAnswer(call, found);
}

/** Seconds by which the moment of a figure may lie beside the wanted ones: clients take theirs before they ask. */
const METRIC_SLACK = 5;

/** Usage at this moment, where it is a wanted one: no other is kept. */
async function metrics(call: Call): Promise<unknown> {
  const { resources, usage } = (await call.tool('Sandbox.GetSandbox', { sandbox: idIn(call) })) as {
    resources: Record<'cpu' | 'memory' | 'disk', number>;
    usage: Record<'memory_bytes' | 'disk_bytes', number | null>;
  };
  const now = new Date();
  const { start = 0, end = Number.POSITIVE_INFINITY } = call.query;
  const seconds = now.getTime() / 1_000;
  if (!(Number(start) - METRIC_SLACK <= seconds && seconds <= Number(end) + METRIC_SLACK)) return [];
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

function listed(call: Call, states: string | undefined): Promise<unknown> {
  const subject = { action: 'Sandbox.ListSandboxes', scope: 'sandboxes:read' } as const;
  return audited(call, subject, async () => {
    const page = await pageOf(call, wanted(call, states), call.query['order']);
    return page.map(recordInfo);
  });
}

/** Yields those that run and are paused, newest first unless the client wants the oldest first. */
async function* wanted(call: Call, states = 'running,paused'): AsyncGenerator<SeenSandbox, void> {
  const { metadata, order, startedAfter, template } = call.query;
  const since = startedAfter === undefined ? 0 : Date.parse(startedAfter);
  const isWanted = (sandbox: SeenSandbox) =>
    sandbox.createdAt >= since &&
    (template === undefined || (sandbox.snapshot ?? 'base') === template) &&
    states.split(',').includes(isPaused(toSandboxView(sandbox)) ? 'paused' : 'running');
  const newest = newestFirst(call, labelsIn(metadata));
  for await (const sandbox of order === 'asc' ? oldestFirst(newest) : newest) {
    if (isWanted(sandbox)) yield sandbox;
  }
}

async function* newestFirst(
  call: Call,
  labels: Record<string, string> | undefined,
): AsyncGenerator<SeenSandbox, void> {
  for (let page = 1; ; page += 1) {
    const found = await call.services.sandboxes.list(call.request.caller, labels ? { labels } : {}, {
      ...{ page, pageSize: PAGE_SIZE },
    });
    yield* found.sandboxes.filter(({ state }) => theirs.includes(state));
    if (page * PAGE_SIZE >= found.totalCount) return;
  }
}

async function* oldestFirst(newest: AsyncIterable<SeenSandbox>): AsyncGenerator<SeenSandbox, void> {
  const all: SeenSandbox[] = [];
  for await (const sandbox of newest) all.push(sandbox);
  yield* all.reverse();
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
