/** Snapshots of images, of sandboxes and of Dockerfiles; their states have the same names in both. */
import { withoutUndefined } from '../../../catalog/base/tool.ts';
import { createSnapshotInput } from '../../../catalog/snapshots/create-snapshot.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { DetachedView } from '../../../control/builds/detached.ts';
import { notFound } from '../../../model/errors.ts';
import { isBuildId } from '../../../model/ids.ts';
import { assertScope } from '../../../model/scopes.ts';
import type { SnapshotState } from '../../../model/snapshot.ts';
import { ownerIdOf } from '../../../model/user.ts';
import { type DaytonaCall, type DaytonaRoute, defined } from '../base/call.ts';
import { alreadyThere, isAsked, NotHere, unlessMissing } from '../base/errors.ts';
import { type AskedBuild, begin, buildIn, failureOf, sizesOf } from './builds.ts';
import { pageOf } from './list.ts';

const ONE = '/snapshots/:snapshot';

export const snapshotRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/snapshots', handler: list },
  { method: 'POST', path: '/snapshots', handler: create },
  { method: 'GET', path: ONE, handler: get },
  { method: 'DELETE', path: ONE, handler: remove },
  // One is active from the end of its pull on, and never anything else.
  { method: 'POST', path: `${ONE}/activate`, handler: get },
];

/** As GetSnapshot shows it. */
interface SnapshotView {
  id: string;
  name: string;
  state: SnapshotState | 'building' | 'build_failed';
  state_reason?: string;
  image: string;
  entrypoint: string[] | null;
  resources: { cpu: number; memory: number; disk: number; gpu: number };
  region_id: string;
  size_bytes: number | null;
  created_at: string;
  updated_at: string;
  source?: { id: string };
}

const PAGE_SIZE = 100;

async function list(call: DaytonaCall): Promise<unknown> {
  const { name, sort, order, sourceSandboxId } = call.query;
  const ordered = (sort ?? 'createdAt') !== 'createdAt' || (order ?? 'desc') !== 'desc';
  if (name !== undefined || ordered) throw new NotHere('Snapshots are listed whole here, newest first.');
  const { page, limit } = pageOf(call);
  if (sourceSandboxId !== undefined) return listOf(call, sourceSandboxId, page, limit);
  const found = await call.tool('Sandbox.ListSnapshots', { page, page_size: limit });
  const { snapshots, total_count: total, total_pages: totalPages } = found;
  const items = (snapshots as SnapshotView[]).map((view) => toSnapshot(view, call));
  return { items, total, page, totalPages };
}

/** Lists those of one sandbox, which may be gone. */
async function listOf(call: DaytonaCall, sandbox: string, page: number, limit: number): Promise<unknown> {
  const found: SnapshotView[] = [];
  for (let at = 1, pages = 1; at <= pages; at += 1) {
    const { snapshots, total_pages } = await call.tool('Sandbox.ListSnapshots', {
      ...{ page: at, page_size: PAGE_SIZE },
    });
    found.push(...(snapshots as SnapshotView[]).filter(({ source }) => source?.id === sandbox));
    pages = Number(total_pages);
  }
  const items = found.slice((page - 1) * limit, page * limit).map((view) => toSnapshot(view, call));
  return { items, total: found.length, page, totalPages: Math.ceil(found.length / limit) };
}

async function create(call: DaytonaCall): Promise<unknown> {
  const { name, imageName, entrypoint, buildInfo, cpu, memory, disk, gpu, sandboxClass } = call.body;
  if (sandboxClass !== undefined && sandboxClass !== null && sandboxClass !== 'container') {
    throw new NotHere('Sandboxes are containers here.');
  }
  const asked = defined({ name, entrypoint, resources: defined({ cpu, memory, disk, gpu }) });
  const build = buildIn(buildInfo);
  if (build && 'dockerfile' in build && !isAsked(imageName)) return createBuilt(call, build, asked);
  const created = await call.tool('Sandbox.CreateSnapshot', {
    ...asked,
    image: imageName ?? (build && 'image' in build ? build.image : undefined),
  });
  return toSnapshot(created as unknown as SnapshotView, call);
}

async function createBuilt(
  call: DaytonaCall,
  { dockerfile, files }: AskedBuild,
  asked: Record<string, unknown>,
): Promise<unknown> {
  const { name, entrypoint, resources } = validateInput(createSnapshotInput, { ...asked, image: BASE });
  // A build that failed keeps no name.
  const there = await find(call, name);
  if (there && there.state !== 'failed') throw alreadyThere('snapshot', name);
  const start = entrypoint ? `\nENTRYPOINT ${JSON.stringify(entrypoint)}\n` : '';
  const announced = { name, resources: withoutUndefined(resources) };
  const id = await begin(call, { dockerfile: dockerfile + start, files }, announced);
  return toBuilding(call, call.services.detachedBuilds.read(call.request.caller, id, 0));
}

async function get(call: DaytonaCall): Promise<unknown> {
  const found = await find(call, call.params['snapshot'] ?? '');
  if (!found) throw notFound('snapshot', 'There is no such snapshot.', 'List the ones there are.');
  return 'announced' in found ? toBuilding(call, found) : toSnapshot(found, call);
}

/** Deletes one, or ends its build. */
async function remove(call: DaytonaCall): Promise<void> {
  const { snapshot = '' } = call.params;
  const found = await find(call, snapshot);
  if (found && 'announced' in found) {
    assertScope(call.request.caller, 'sandboxes:write');
    await call.services.detachedBuilds.remove(call.request.caller, found.id);
  } else await call.action('DeleteSnapshot', { snapshot: found?.id ?? snapshot });
}

/** Returns the snapshot, or the build that is to make it or has failed; null for neither. */
async function find(call: DaytonaCall, reference: string): Promise<SnapshotView | DetachedView | null> {
  const { detachedBuilds } = call.services;
  const { caller } = call.request;
  assertScope(caller, 'sandboxes:read');
  const isBuild = isBuildId(reference);
  const build = isBuild ? detachedBuilds.read(caller, reference, 0) : detachedBuilds.find(caller, reference);
  const id = build?.snapshot?.id ?? reference;
  if (build && !build.snapshot && isBuild) return build;
  const found = await unlessMissing(call.tool('Sandbox.GetSnapshot', { snapshot: id }));
  if (found) return found as unknown as SnapshotView;
  return build?.state === 'ready' ? null : build;
}

/** Snapshot that everybody has, and nobody made. */
export const BASE = 'base';

const BYTES_PER_GIB = 2 ** 30;

/** One that is being built, which has the id of its build, or whose build failed. */
function toBuilding(call: DaytonaCall, build: DetachedView) {
  const { id, announced, announcedAt, state } = build;
  const [region] = call.services.identity.regions();
  const at = new Date(announcedAt).toISOString();
  const view = {
    ...{ id, name: announced.name, image: '', entrypoint: null, resources: sizesOf(announced.resources) },
    ...{ region_id: region?.id ?? '', size_bytes: null, created_at: at, updated_at: at },
    ...(state === 'failed' ? { state_reason: failureOf(build) } : {}),
  };
  return toSnapshot({ ...view, state: state === 'failed' ? 'build_failed' : 'building' }, call);
}

function toSnapshot(view: SnapshotView, { request }: Pick<DaytonaCall, 'request'>) {
  const { cpu, memory, disk, gpu } = view.resources;
  return {
    ...{ id: view.id, name: view.name, state: view.state, imageName: view.image },
    organizationId: ownerIdOf(request.caller),
    general: view.name === BASE,
    ...{ cpu, gpu, mem: memory, disk },
    entrypoint: view.entrypoint,
    size: view.size_bytes === null ? null : view.size_bytes / BYTES_PER_GIB,
    errorReason: view.state_reason ?? null,
    ...{ createdAt: view.created_at, updatedAt: view.updated_at },
    // Nobody notes the last use.
    ...{
      lastUsedAt: null,
      sourceSandboxId: view.source && !isBuildId(view.source.id) ? view.source.id : null,
    },
    ...{ regionIds: [view.region_id], sandboxClass: 'container' },
  };
}
