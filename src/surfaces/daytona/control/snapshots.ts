/** Snapshots, which are made of an image of a registry. */
import { type SnapshotView, toSnapshot } from '../answers/snapshot.ts';
import type { DaytonaCall } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
import type { DaytonaRoute } from '../base/route.ts';
import { imageOf } from './image.ts';

const ONE = '/snapshots/:snapshot';

export const snapshotRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/snapshots', handler: list },
  { method: 'POST', path: '/snapshots', handler: create },
  { method: 'GET', path: ONE, handler: get },
  { method: 'DELETE', path: ONE, handler: remove },
  // One is active from the end of its pull on, and never anything else.
  { method: 'POST', path: `${ONE}/activate`, handler: get },
];

const PAGE_SIZE = 100;

async function list(call: DaytonaCall): Promise<unknown> {
  const { page = '1', limit = PAGE_SIZE, name, sort, order, sourceSandboxId } = call.query;
  const ordered = (sort ?? 'createdAt') !== 'createdAt' || (order ?? 'desc') !== 'desc';
  if (name !== undefined || ordered) throw new NotHere('Snapshots are listed whole here, newest first.');
  const found = await call.tool('Sandbox.ListSnapshots', {
    page: Number(page),
    page_size: Number(limit),
  });
  const { snapshots, total_count: total, total_pages: totalPages } = found;
  // None is made of a sandbox.
  if (sourceSandboxId !== undefined) return { items: [], total: 0, page: Number(page), totalPages: 0 };
  const items = (snapshots as SnapshotView[]).map((view) => toSnapshot(view, call));
  return { items, total, page: Number(page), totalPages };
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
