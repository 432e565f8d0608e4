/**
 * Lists of sandboxes, newest first: of the newest generation by cursor, of older ones by page number. The core filters by labels;
 * all other filters look at what it found.
 */
import { z } from 'zod';
import { labels } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Sandbox } from '../../../model/sandbox.ts';
import { assertScope } from '../../../model/scopes.ts';
import { subjectOf } from '../../http/base/origin.ts';
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
import { recordToShown, statesOf, toSandbox, toSandboxItem } from './sandbox-answer.ts';

export const listRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/sandbox', handler: (call) => audited(call, listByCursor) },
  { method: 'GET', path: '/sandbox/paginated', handler: (call) => audited(call, listByPage) },
];

const PAGE_SIZE = limits.pageSize.max;

const pageQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(limits.listPosition).default(1),
  limit: z.coerce.number().int().min(1).default(PAGE_SIZE),
  labels: labels().optional(),
});

/** The tool of lists shows neither network nor environment, and their clients want both, so this is a call of its service. */
function audited<T>(call: DaytonaCall, work: (call: DaytonaCall) => Promise<T>): Promise<T> {
  const subject = subjectOf(call.request, 'Sandbox.ListSandboxes', call.signal);
  return call.services.audit.call(subject, () => {
    assertScope(call.request.caller, 'sandboxes:read');
    return work(call);
  });
}

/** The next page begins after a time of creation and an id, so that none is missed where the client deletes what it has. */
async function listByCursor(call: DaytonaCall): Promise<unknown> {
  const { limit, labels } = pageOf(call);
  const after = cursorIn(call);
  const items: Sandbox[] = [];
  for await (const sandbox of matching(call, filterOf(call, ['cursor']), labels)) {
    if (after && !isAfter(sandbox, after)) continue;
    if (items.length === limit) return page(cursorOf(items.at(-1)));
    items.push(sandbox);
  }
  return page(null);

  async function page(nextCursor: string | null): Promise<unknown> {
    const shown = items.map((sandbox) => toSandboxItem(recordToShown(sandbox), call));
    return { items: await Promise.all(shown), nextCursor };
  }
}

async function listByPage(call: DaytonaCall): Promise<unknown> {
  const { page, limit, labels } = pageOf(call);
  const items: unknown[] = [];
  let total = 0;
  for await (const sandbox of matching(call, filterOf(call, ['page']), labels)) {
    if (Math.floor(total / limit) === page - 1) items.push(await toSandbox(recordToShown(sandbox), call));
    total += 1;
  }
  return { items, total, page, totalPages: Math.ceil(total / limit) };
}

async function* matching(
  { request, services }: DaytonaCall,
  filter: Filter,
  labels: Record<string, string> | undefined,
): AsyncGenerator<Sandbox> {
  const wanted = labels ? { labels } : {};
  for (let page = 1; ; page += 1) {
    const position = { page, pageSize: PAGE_SIZE };
    const { sandboxes, totalCount } = await services.sandboxes.list(request.caller, wanted, position);
    yield* sandboxes.filter(filter);
    if (page * PAGE_SIZE >= totalCount) return;
  }
}

export function pageOf(call: DaytonaCall): z.output<typeof pageQuery> {
  const { page, limit, labels } = call.query;
  const parsed = validateInput(pageQuery, { page, limit, labels: labelsIn(labels) });
  return { ...parsed, limit: Math.min(parsed.limit, PAGE_SIZE) };
}

function labelsIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw invalidArgument('labels', 'labels must be a JSON object of texts.');
  }
}

interface Cursor {
  createdAt: number;
  id: string;
}

function cursorOf(last: Sandbox | undefined): string | null {
  return last ? `${last.createdAt}.${last.id}` : null;
}

function cursorIn(call: DaytonaCall): Cursor | null {
  const [text] = valuesIn(call, 'cursor');
  if (text === undefined || text === '') return null;
  const [, createdAt, id] = /^(\d{1,15})\.(\w+)$/.exec(text) ?? [];
  if (id === undefined) throw invalidArgument('cursor', 'cursor must be the nextCursor of an answer.');
  return { createdAt: Number(createdAt), id };
}

/** In the order of the list. */
function isAfter(sandbox: Sandbox, { createdAt, id }: Cursor): boolean {
  return sandbox.createdAt < createdAt || (sandbox.createdAt === createdAt && sandbox.id < id);
}

// Filters in the query of a list of sandboxes, each as a test of one sandbox.

export type Filter = (sandbox: Sandbox) => boolean;

/** Makes a filter of the values of its name, of which there is at least one. */
type Make = (values: [string, ...string[]], name: string) => Filter;

const filters: Record<string, Make> = {
  id: prefixOf(({ id }) => id),
  name: prefixOf(({ name }) => name),
  states: oneOf((sandbox) => statesOf(sandbox).state),
  snapshots: oneOf(({ snapshot }) => snapshot ?? ''),
  regionIds: oneOf(({ regionId }) => regionId),
  regions: oneOf(({ regionId }) => regionId),
  sandboxClasses: oneOf(() => 'container'),
  isPublic: oneOf(() => 'false'),
  isRecoverable: oneOf(({ state }) => String(state === 'error')),
  ...between('Cpu', ({ resources }) => resources.cpu),
  ...between('MemoryGiB', ({ resources }) => resources.memory),
  ...between('DiskGiB', ({ resources }) => resources.disk),
  ...between('Gpu', ({ resources }) => resources.gpu),
  ...around('createdAt', ({ createdAt }) => createdAt),
  ...around('lastEvent', ({ lastActivityAt }) => lastActivityAt),
};

/** The order that there is. */
const order: Record<string, string> = { sort: 'createdAt', order: 'desc' };

/** A deleted sandbox is gone, one that waits in a pool is nobody's, and answers do not differ in detail. */
const withoutEffect = ['includeErroredDeleted', 'includeWarm', 'verbose'];

/** @param ways Names that say which part of the list is wanted, beside those of both lists. */
export function filterOf(call: DaytonaCall, ways: readonly string[]): Filter {
  const tests = Object.keys(call.query).flatMap((name): Filter[] => {
    const [first, ...others] = valuesIn(call, name);
    if (first === undefined || [...ways, ...withoutEffect, 'limit', 'labels'].includes(name)) return [];
    if (order[name] === first) return [];
    const make = Object.hasOwn(filters, name) ? filters[name] : undefined;
    // Their setting is in no row of a sandbox.
    const isKnown = name !== 'isPublic' || !call.services.publicPorts.isAllowed;
    if (make && isKnown) return [make([first, ...others], name)];
    throw new NotHere(`A list of sandboxes has no ${name}=${first.slice(0, 100)} here; it is newest first.`);
  });
  return (sandbox) => tests.every((test) => test(sandbox));
}

/** Returns all values of a name. */
export function valuesIn({ request }: DaytonaCall, name: string): string[] {
  const value = (request.query as Record<string, string | string[] | undefined>)[name];
  return value === undefined ? [] : [value].flat();
}

function prefixOf(textOf: (sandbox: Sandbox) => string): Make {
  return ([prefix]) =>
    (sandbox) =>
      textOf(sandbox).toLowerCase().startsWith(prefix.toLowerCase());
}

function oneOf(textOf: (sandbox: Sandbox) => string): Make {
  return (values) => (sandbox) => values.includes(textOf(sandbox));
}

function between(name: string, numberOf: (sandbox: Sandbox) => number): Record<string, Make> {
  return {
    [`min${name}`]: limit((sandbox, bound) => numberOf(sandbox) >= bound, Number),
    [`max${name}`]: limit((sandbox, bound) => numberOf(sandbox) <= bound, Number),
  };
}

function around(name: string, timeOf: (sandbox: Sandbox) => number): Record<string, Make> {
  return {
    [`${name}After`]: limit((sandbox, time) => timeOf(sandbox) > time, Date.parse),
    [`${name}Before`]: limit((sandbox, time) => timeOf(sandbox) < time, Date.parse),
  };
}

function limit(
  isWithin: (sandbox: Sandbox, bound: number) => boolean,
  parse: (text: string) => number,
): Make {
  return ([text], name) => {
    const bound = parse(text);
    if (Number.isNaN(bound)) throw invalidArgument(name, `${name} must be a number, or a time.`);
    return (sandbox) => isWithin(sandbox, bound);
  };
}
