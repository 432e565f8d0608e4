/** Snapshots of images and of sandboxes; their states have the same names in both. */
import { invalidArgument } from '../../../model/errors.ts';
import { isBuildId } from '../../../model/ids.ts';
import type { SnapshotState } from '../../../model/snapshot.ts';
import { ownerIdOf } from '../../../model/user.ts';
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
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
  state: SnapshotState;
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
  const resources = Object.entries({ cpu, memory, disk, gpu }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const created = await call.tool('Sandbox.CreateSnapshot', {
    ...{ name, image: imageName ?? imageOf(buildInfo), entrypoint },
    resources: Object.fromEntries(resources),
  });
  return toSnapshot(created as unknown as SnapshotView, call);
}

async function get(call: DaytonaCall): Promise<unknown> {
  const { snapshot } = call.params;
  const view = await call.tool('Sandbox.GetSnapshot', { snapshot });
  return toSnapshot(view as unknown as SnapshotView, call);
}

async function remove(call: DaytonaCall): Promise<void> {
  await call.action('DeleteSnapshot', { snapshot: call.params['snapshot'] });
}

/** Snapshot that everybody has, and nobody made. */
export const BASE = 'base';

const BYTES_PER_GIB = 2 ** 30;

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

const ONE_LINE = /^\s*FROM\s+(?!--)(\S+)\s*$/i;

/**
 * Returns the image of a `buildInfo`; undefined where there is none. One that is given by its name arrives as a Dockerfile of
 * one line. Throws `NotHere` for every other Dockerfile, which asks for a build.
 */
export function imageOf(buildInfo: unknown): string | undefined {
  if (buildInfo === undefined || buildInfo === null) return undefined;
  const { dockerfileContent, contextHashes } = buildInfo as Record<string, unknown>;
  if (typeof dockerfileContent !== 'string') {
    throw invalidArgument('buildInfo', 'buildInfo.dockerfileContent must be a Dockerfile.');
  }
  const [, image] = ONE_LINE.exec(dockerfileContent) ?? [];
  const addsFiles = Array.isArray(contextHashes) && contextHashes.length > 0;
  if (image !== undefined && !addsFiles) return image;
  throw new NotHere(
    'This service builds no images: give the name of one that a registry has, and do the rest in the sandbox.',
  );
}
