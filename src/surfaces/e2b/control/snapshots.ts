/** Snapshots of sandboxes. Clients create sandboxes from them as from templates, and delete them as such. */
import { isBuilt, type Snapshot } from '../../../model/snapshot.ts';
import { audited, type DaytonaCall as Call, type DaytonaRoute as Route } from '../../daytona/base/call.ts';
import { wholeId } from '../base/address.ts';
import { NotHere } from '../base/errors.ts';
import { idIn } from './answer.ts';
import { PAGE_SIZE, pageOf } from './pages.ts';

export const snapshotRoutes: readonly Route[] = [
  { method: 'POST', path: '/sandboxes/:sandbox/snapshots', handler: take, status: 201 },
  { method: 'GET', path: '/snapshots', handler: list },
  { method: 'DELETE', path: '/templates/:template', handler: remove, status: 204 },
];

/** Between the name of a template and its tag, in the name of its snapshot. */
export const TAG_MARK = '--';

/** Returns the name or id of the snapshot of a template. A tag is a part of the name; `default` is none. */
export function snapshotName(template: string, tags: readonly string[] = []): string {
  const at = template.indexOf(':');
  const own = at < 0 ? [] : [template.slice(at + 1)];
  const [tag, other] = new Set([...own, ...tags].filter((one) => one !== 'default'));
  if (other !== undefined) throw new NotHere('tags: A template has one tag here.');
  const name = at < 0 ? template : template.slice(0, at);
  return tag === undefined ? name : name + TAG_MARK + tag;
}

/** A client that says nothing about memory gets the files alone, and no error: most do so. */
async function take(call: Call): Promise<unknown> {
  const { name, memory } = call.body;
  if (memory === true) throw new NotHere('memory: A snapshot has the files of a sandbox here.');
  const taken = await call.tool('Sandbox.SnapshotSandbox', {
    sandbox: idIn(call),
    name: typeof name === 'string' ? snapshotName(name) : name,
  });
  return toSnapshot(taken as unknown as Snapshot);
}

function list(call: Call): Promise<unknown> {
  const subject = { action: 'Sandbox.ListSnapshots', scope: 'sandboxes:read' } as const;
  return audited(call, subject, async () => (await pageOf(call, ofSandboxes(call))).map(toSnapshot));
}

/** Yields those that are wanted, newest first. */
async function* ofSandboxes({ query, request, services }: Call): AsyncGenerator<Snapshot, void> {
  const { sandboxID, name } = query;
  const isWanted = (snapshot: Snapshot) =>
    snapshot.source !== null &&
    !isBuilt(snapshot) &&
    (sandboxID === undefined || snapshot.source.id === wholeId(sandboxID)) &&
    (name === undefined || [snapshot.id, snapshot.name].includes(snapshotName(name)));
  for (let page = 1; ; page += 1) {
    const found = await services.snapshots.list(request.caller, { page, pageSize: PAGE_SIZE });
    yield* found.snapshots.filter(isWanted);
    if (page * PAGE_SIZE >= found.totalCount) return;
  }
}

async function remove(call: Call): Promise<void> {
  await call.action('DeleteSnapshot', { snapshot: snapshotName(call.params['template'] ?? '') });
}

function toSnapshot({ id, name }: Pick<Snapshot, 'id' | 'name'>) {
  return { snapshotID: id, names: [name] };
}
