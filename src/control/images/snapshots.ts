/** Snapshots of a caller: named images with the sizes and entrypoint of sandboxes created from them. */
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { newSnapshotId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { NetworkRequest } from '../../model/network/setting.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { BASE_IMAGE, baseSnapshot, defaultResources, isBase } from '../base/base-image.ts';
import type { IdentityService } from '../callers/identity.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { SnapshotEvents } from '../live/snapshot-events.ts';
import type { Allowance, Clock, Images, Log, Page, Runtime, SnapshotStore } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import type { Idempotency } from '../turns/idempotency.ts';
import type { SnapshotWork } from './snapshot-work.ts';

export interface SnapshotRequest {
  name: string;
  image: string;
  entrypoint?: string[];
  /** Omitted values take the standard size. */
  resources: Partial<Resources>;
  regionId?: string;
  /** Linux user of its sandboxes; root by default. */
  user?: string;
}

export interface SnapshotDependencies {
  store: SnapshotStore;
  images: Images;
  runtime: Pick<Runtime, 'captures'>;
  work: SnapshotWork;
  events: Pick<SnapshotEvents, 'changed' | 'gone'>;
  identity: IdentityService;
  idempotency: Idempotency;
  quotas: Pick<Quotas, 'allowance'>;
  networks: Pick<Networks, 'accept' | 'boundsOf'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
}

export class SnapshotService {
  readonly #deps: SnapshotDependencies;

  constructor(dependencies: SnapshotDependencies) {
    this.#deps = dependencies;
  }

  /** Resolves once the snapshot is stored, in state `pending`; the work continues in the background. */
  create(caller: User, request: SnapshotRequest, key?: string): Promise<Snapshot> {
    if (key === undefined) return this.#create(caller, request, null);
    return this.#deps.idempotency.once(
      ownerIdOf(caller),
      key,
      ['CreateSnapshot', request],
      async (keptSince) => {
        // Exists when the service was killed between the creation and the storage of its answer.
        const made = await this.#deps.store.createdUnder(ownerIdOf(caller), key, keptSince);
        return made ?? this.#create(caller, request, key);
      },
    );
  }

  async get(caller: User, idOrName: string): Promise<Snapshot> {
    if (isBase(idOrName)) return this.#base();
    const snapshot = await this.#deps.store.find(ownerIdOf(caller), idOrName);
    if (snapshot) return snapshot;
    throw unknown(idOrName);
  }

  /** Lists newest first; the base image, which no user owns, comes last. */
  async list(caller: User, page: Page): Promise<{ snapshots: Snapshot[]; totalCount: number }> {
    const { snapshots, totalCount } = await this.#deps.store.list(ownerIdOf(caller), page);
    const first = (page.page - 1) * page.pageSize;
    const showsBase = first <= totalCount && totalCount < first + page.pageSize;
    return {
      snapshots: showsBase ? [...snapshots, await this.#base()] : snapshots,
      totalCount: totalCount + 1,
    };
  }

  async #create(caller: User, request: SnapshotRequest, creationKey: string | null): Promise<Snapshot> {
    const { store, images, work, events, quotas, clock } = this.#deps;
    assertNotReserved(request.name);
    images.check(request.image);
    const regionId = this.#region(request.regionId);
    await assertRoomForSnapshot(store, ownerIdOf(caller));
    const now = clock.now();
    const snapshot: Snapshot = {
      id: newSnapshotId(),
      ownerId: ownerIdOf(caller),
      name: request.name,
      state: 'pending',
      stateReason: null,
      image: request.image,
      imageDigest: null,
      entrypoint: request.entrypoint?.length ? request.entrypoint : null,
      resources: { ...defaultResources, ...request.resources },
      regionId,
      sizeBytes: null,
      creationKey,
      createdAt: now,
      updatedAt: now,
      network: null,
      user: request.user ?? null,
      source: null,
      imageConfig: null,
    };
    await store.insert(snapshot, await quotas.allowance(ownerIdOf(caller)));
    events.changed(snapshot);
    work.begin(snapshot);
    return snapshot;
  }

  /**
   * Sets the network of sandboxes that are created from it without one of their own; sandboxes that are there keep theirs.
   * `default`: their owner's usual one. Rejects like `delete`, and like SetNetwork.
   */
  async setNetwork(caller: User, idOrName: string, request: NetworkRequest | 'default'): Promise<Snapshot> {
    const { store, networks, events, clock } = this.#deps;
    const bounds = await networks.boundsOf(ownerIdOf(caller));
    const network = request === 'default' ? null : (await networks.accept(request, bounds)).setting;
    const { id } = await this.get(caller, idOrName);
    if (isBase(id)) throw baseIsPermanent();
    const changed = await store.setNetwork(id, network, clock.now());
    if (!changed) throw unknown(idOrName);
    events.changed(changed);
    return changed;
  }

  /**
   * Deletes a snapshot in any state and cancels work on it. Sandboxes created from it continue: each row holds its
   * image's digest and entrypoint. Rejects with `permission_denied` for the base image.
   */
  async delete(caller: User, idOrName: string): Promise<Snapshot> {
    const snapshot = await this.get(caller, idOrName);
    if (isBase(snapshot.id)) throw baseIsPermanent();
    // The row goes first, so that work ending in between stores nothing.
    if (!(await this.#deps.store.delete(snapshot.id))) throw unknown(idOrName);
    this.#deps.work.breakOff(snapshot.id);
    this.#deps.events.gone(snapshot);
    if (snapshot.source !== null) await this.#dropDisk(snapshot.id);
    return snapshot;
  }

  /** Never rejects: without a row, the disk is collected. */
  async #dropDisk(id: string): Promise<void> {
    const { runtime, log } = this.#deps;
    await runtime.captures?.drop(id).catch((error: unknown) => {
      log.warn('the disk of a snapshot could not be dropped; it is collected later', { snapshot: id, error });
    });
  }

  /** Gives an active snapshot to another owner; false leaves one that is not. */
  async give(snapshot: Snapshot, allowance: Allowance): Promise<boolean> {
    const { store, events, clock } = this.#deps;
    const given = await store.give(snapshot.id, allowance.ownerId, clock.now(), allowance);
    if (!given) return false;
    events.gone(snapshot);
    events.changed(given);
    return true;
  }

  #base(): Promise<Snapshot> {
    const { images, identity, clock } = this.#deps;
    return baseSnapshot(images, identity.home.id, clock);
  }

  #region(wanted: string | undefined): string {
    const { identity } = this.#deps;
    const { id } = identity.home;
    if (wanted === undefined || wanted === id) return id;
    const known = identity.regions().map((region) => region.id);
    const names = known.map((name) => `'${name}'`).join(', ');
    throw known.includes(wanted)
      ? invalidArgument(
          'region_id',
          `The region '${wanted}' is another service's; this one makes snapshots in '${id}'.`,
          `Leave region_id out, or call the service in '${wanted}'.`,
        )
      : invalidArgument(
          'region_id',
          `There is no region '${wanted}'. The regions are ${names}.`,
          'Leave region_id out for the closest one.',
        );
  }
}

function unknown(idOrName: string): SandhavenError {
  return notFound(
    'snapshot',
    `There is no snapshot '${idOrName}'.`,
    'Call Sandbox.ListSnapshots to see the names and ids there are.',
  );
}

function baseIsPermanent(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    "The snapshot 'base' is the standard base image of all users.",
    {
      parameter: 'snapshot',
      hint: 'Only snapshots that were made with Sandbox.CreateSnapshot can be changed and deleted.',
    },
  );
}

// Checks that every new snapshot has to pass: of an image, of a sandbox, of a build.

/** Throws `already_exists` for the name of the base image. */
export function assertNotReserved(name: string): void {
  if (name !== BASE_IMAGE) return;
  throw new SandhavenError('already_exists', "The snapshot 'base' is the standard base image.", {
    parameter: 'name',
    hint: 'Choose another name.',
  });
}

/** Rejects with `resource_exhausted` while too many are being made, or kept. */
export async function assertRoomForSnapshot(
  store: Pick<SnapshotStore, 'unfinished' | 'count'>,
  ownerId: string,
): Promise<void> {
  const { unfinished, perOwner } = limits.snapshot;
  const waiting = (await store.unfinished()).filter((snapshot) => snapshot.ownerId === ownerId);
  if (waiting.length >= unfinished) {
    throw new SandhavenError('resource_exhausted', `${waiting.length} snapshots are still being made.`, {
      hint: 'Wait until some of them are active (Sandbox.ListSnapshots), then try again.',
      retryable: true,
    });
  }
  const totalCount = await store.count(ownerId);
  if (totalCount < perOwner) return;
  throw new SandhavenError('resource_exhausted', `There are ${totalCount} snapshots; more are not kept.`, {
    hint: 'Delete one with `sandhaven snapshots rm NAME`, or create sandboxes from an image directly.',
  });
}
