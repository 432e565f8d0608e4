/** Creates a sandbox: claims one from the warm pool when one fits, else starts a new machine. */

import { randomInt } from 'node:crypto';
import { apart, describeSpan, inSpan } from '../../concurrency/span.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newSandboxId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { NetworkRequest } from '../../model/network/setting.ts';
import type { Language, Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { BASE_IMAGE, defaultResources } from '../base/base-image.ts';
import { creationBounds, DurationTally } from '../base/tallies.ts';
import type { Quotas } from '../callers/quotas.ts';
import type {
  Allowance,
  Clock,
  Image,
  Images,
  OnProgress,
  Runtime,
  SandboxStore,
  SnapshotStore,
} from '../ports/index.ts';
import type { AcceptedNetwork, Networks } from '../reach/networks.ts';
import type { SandboxSecrets } from '../secrets/sandbox-secrets.ts';
import { assertRoomToStart, type DiskPromises } from './capacity.ts';
import type { Machines } from './machines.ts';
import { type Template, templateOf } from './template.ts';

export interface CreateRequest {
  /** Drawn by default. */
  id?: string;
  name?: string;
  language: Language;
  snapshot?: string;
  image?: string;
  envVars: Record<string, string>;
  autoStopMinutes: number;
  cpu: number;
  memory: number;
  disk: number;
  gpu: number;
  labels: Record<string, string>;
  ephemeral: boolean;
  /** Linux user of work inside that names none; by default the snapshot's, else root. */
  user?: string;
  /** By default the snapshot's, else the owner's, else the installation's. */
  network?: NetworkRequest;
  /** Names or ids; none by default. */
  secrets?: string[];
  /** Idempotency key of a call that may be retried. */
  creationKey?: string;
}

interface CreationDependencies {
  store: SandboxStore;
  snapshots: Pick<SnapshotStore, 'find'>;
  runtime: Runtime;
  images: Images;
  machines: Machines;
  quotas: Quotas;
  networks: Pick<Networks, 'boundsOf' | 'ofCreation' | 'isReadyInPool' | 'catchUp'>;
  secrets: Pick<SandboxSecrets, 'accept'>;
  disks: Pick<DiskPromises, 'assertRoomFor'>;
  regionId: string;
  clock: Clock;
  /** Called for each sandbox that the warm pool could give, once it has given one or had none. */
  onWanted(): void;
}

/** Values set at creation, for a claimed and for a new sandbox. */
type Blueprint = Omit<Sandbox, 'id' | 'operation' | 'holder' | 'generation' | 'runGeneration'> & {
  id: string | null;
  ownerId: string;
};

/** A request without what its template says. */
type Given = Omit<CreateRequest, 'snapshot' | 'image' | 'cpu' | 'memory' | 'disk' | 'gpu' | 'secrets'> &
  Pick<Sandbox, 'secretIds'> &
  Partial<Pick<Sandbox, 'autoArchiveMinutes' | 'autoDeleteMinutes'>>;

const NAME_TRIES = 5;
/** Failures of one machine that say nothing about another: its node is full or away, its agent is of an earlier version. */
const ELSEWHERE: ReadonlySet<string> = new Set(['resource_exhausted', 'unavailable', 'failed_precondition']);

export class Creation {
  readonly #deps: CreationDependencies;
  /** Creations that succeeded, without the pull of an image: from the warm pool, and of new machines. */
  readonly made = { warm: new DurationTally(creationBounds), cold: new DurationTally(creationBounds) };

  constructor(dependencies: CreationDependencies) {
    this.#deps = dependencies;
  }

  async create(caller: User, request: CreateRequest, onProgress?: OnProgress): Promise<Sandbox> {
    const { snapshots, secrets } = this.#deps;
    const template = await templateOf(snapshots, caller, request);
    const secretIds = await secrets.accept(caller, request.secrets);
    return this.createFrom(caller, { ...request, secretIds }, template, onProgress);
  }

  /** Creates a sandbox with the settings of another of the caller's, and a disk made from a captured one. */
  createLike(caller: User, source: Sandbox, captureId: string, name?: string): Promise<Sandbox> {
    const { snapshot, image, imageDigest, entrypoint, user, imageConfig, resources, network, language } =
      source;
    const settings = { snapshot, image, entrypoint, user, imageConfig, resources, network };
    const template = { ...settings, wanted: { digest: imageDigest }, captureId };
    const { envVars, labels, ephemeral, secretIds } = source;
    const { autoStopMinutes, autoArchiveMinutes, autoDeleteMinutes } = source;
    const times = { autoStopMinutes, autoArchiveMinutes, autoDeleteMinutes };
    const given = { language, envVars, labels, ephemeral, secretIds, ...times };
    return this.createFrom(caller, { ...given, ...(name === undefined ? {} : { name }) }, template);
  }

  /** Creates a sandbox of a template that is no snapshot's. */
  async createFrom(
    caller: User,
    request: Given,
    template: Template,
    onProgress?: OnProgress,
  ): Promise<Sandbox> {
    const { images, quotas, networks } = this.#deps;
    const bounds = await networks.boundsOf(ownerIdOf(caller));
    const network = await networks.ofCreation(request.network, template.network, bounds);
    await quotas.assertRoomFor(ownerIdOf(caller), template.resources);
    const make = (image: Image): Promise<Sandbox> => {
      const blueprint = this.#blueprint(caller, { ...request, network: network.setting }, image, template);
      const { captureId } = template;
      return request.name !== undefined
        ? this.#make(blueprint, network, captureId)
        : this.#makeNamed(blueprint, network, captureId);
    };
    // Holds the image in use until the sandbox is created: before the row is committed, nothing else marks it.
    const sandbox = await images.use(template.wanted, make, {
      owner: ownerIdOf(caller),
      ...(onProgress ? { onProgress } : {}),
    });
    await networks.catchUp(sandbox, bounds.most);
    return sandbox;
  }

  /** Retries generated names that are taken; a caller has to change a given one. */
  async #makeNamed(
    blueprint: Blueprint,
    network: AcceptedNetwork,
    captureId: string | null,
  ): Promise<Sandbox> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#make({ ...blueprint, name: generateName() }, network, captureId);
      } catch (error) {
        const taken = error instanceof SandhavenError && error.code === 'already_exists';
        if (!taken || tries === NAME_TRIES) throw error;
      }
    }
  }

  #make(blueprint: Blueprint, network: AcceptedNetwork, captureId: string | null): Promise<Sandbox> {
    return inSpan('sandbox creating', {}, () => this.#claimOrMake(blueprint, network, captureId));
  }

  async #claimOrMake(
    blueprint: Blueprint,
    network: AcceptedNetwork,
    captureId: string | null,
  ): Promise<Sandbox> {
    const begun = performance.now();
    const allowance = await this.#deps.quotas.allowance(blueprint.ownerId);
    const claimed =
      captureId === null && blueprint.id === null ? await this.#claim(blueprint, allowance, network) : null;
    const start = claimed ? 'warm' : 'cold';
    describeSpan({ 'sandhaven.start': start });
    if (claimed) describeSpan({ 'sandhaven.sandbox_id': claimed.id });
    const sandbox = claimed ?? (await this.#makeNew(blueprint, allowance, captureId));
    this.made[start].add(performance.now() - begun);
    return sandbox;
  }

  async #makeNew(blueprint: Blueprint, allowance: Allowance, captureId: string | null): Promise<Sandbox> {
    await assertRoomToStart(this.#deps.runtime, blueprint.resources);
    await this.#deps.disks.assertRoomFor(blueprint.resources.disk);
    const sandbox: Sandbox = {
      ...blueprint,
      id: blueprint.id ?? newSandboxId(),
      state: 'stopped',
      operation: 'creating',
      holder: null,
      generation: 1,
      runGeneration: null,
    };
    describeSpan({ 'sandhaven.sandbox_id': sandbox.id });
    await this.#deps.store.insert(sandbox, allowance);
    return this.#deps.machines.create(sandbox, captureId ?? undefined);
  }

  /**
   * Claims a pool sandbox. It has the standard sizes and network, and no secrets; all of that but the disk, which must match,
   * is changed at once. It has started without an entrypoint.
   */
  async #claim(
    blueprint: Blueprint,
    allowance: Allowance,
    network: AcceptedNetwork,
  ): Promise<Sandbox | null> {
    const { id: _none, ...settings } = blueprint;
    const { image, entrypoint } = blueprint;
    if (image !== BASE_IMAGE || entrypoint !== null || blueprint.resources.gpu > 0) return null;
    const { store, runtime } = this.#deps;
    const { cpu, memory, disk } = blueprint.resources;
    if (disk !== defaultResources.disk) return null;
    const fits = cpu === defaultResources.cpu && memory === defaultResources.memory;
    const isSecretless = blueprint.secretIds.length === 0;
    const asIs = fits && isSecretless && this.#deps.networks.isReadyInPool(network);
    const match = { imageDigest: blueprint.imageDigest, diskGb: disk };
    const sandbox = await store.claim(match, { ...settings, operation: asIs ? null : 'creating' }, allowance);
    apart(() => this.#deps.onWanted());
    if (!sandbox) return null;
    runtime.assign(sandbox.id, sandbox.ownerId);
    return asIs ? sandbox : this.#fit(sandbox);
  }

  /**
   * Returns null, and gives the claimed sandbox up, where its node has no room for the sizes, or does not answer, or its agent
   * knows no secrets: another may, and does.
   */
  async #fit(sandbox: Sandbox): Promise<Sandbox | null> {
    try {
      return await this.#deps.machines.fit(sandbox);
    } catch (error) {
      if (error instanceof SandhavenError && ELSEWHERE.has(error.code)) return null;
      throw error;
    }
  }

  #blueprint(
    caller: User,
    request: Given & Pick<Sandbox, 'network'>,
    image: Image,
    template: Template,
  ): Blueprint {
    const now = this.#deps.clock.now();
    return {
      id: request.id ?? null,
      ownerId: ownerIdOf(caller),
      name: request.name ?? '',
      state: 'started',
      stateReason: null,
      language: request.language,
      snapshot: template.snapshot,
      image: template.image,
      imageDigest: image.digest,
      entrypoint: template.entrypoint,
      resources: template.resources,
      resizeTarget: null,
      rollbackTo: null,
      labels: request.labels,
      envVars: request.envVars,
      user: request.user ?? template.user,
      imageConfig: template.imageConfig,
      network: request.network,
      secretIds: request.secretIds,
      autoStopMinutes: request.autoStopMinutes,
      autoArchiveMinutes: request.autoArchiveMinutes ?? limits.autoArchiveMinutes.default,
      autoDeleteMinutes: request.autoDeleteMinutes ?? limits.autoDeleteMinutes.default,
      ...{ deadline: null, sleep: null },
      ephemeral: request.ephemeral,
      regionId: this.#deps.regionId,
      archive: null,
      creationKey: request.creationKey ?? null,
      createdAt: now,
      updatedAt: now,
      lastActivityAt: now,
      startedAt: now,
      stoppedAt: null,
      archivedAt: null,
    };
  }
}

/** Generated names of sandboxes: two words and a number. */
const FIRST = [
  'amber', 'brisk', 'calm', 'clear', 'coral', 'dusty', 'early', 'fair', 'gentle', 'golden', 'green', 'hidden',
  'keen', 'light', 'lunar', 'mild', 'misty', 'noble', 'north', 'pale', 'plain', 'quick', 'quiet', 'rapid',
  'round', 'royal', 'silver', 'small', 'solar', 'still', 'swift', 'tidal', 'warm', 'west', 'wide', 'young',
]; // biome-ignore format: a list of words
const SECOND = [
  'atoll', 'bay', 'beach', 'breeze', 'cape', 'cliff', 'cove', 'creek', 'current', 'delta', 'dune', 'fjord',
  'gull', 'harbor', 'haven', 'heron', 'island', 'kelp', 'lagoon', 'marsh', 'oasis', 'ocean', 'otter', 'pearl',
  'pebble', 'reef', 'ridge', 'river', 'sail', 'sand', 'shell', 'shore', 'spring', 'stone', 'tide', 'wave',
]; // biome-ignore format: a list of words

/** Draws from about 13 million names; the caller tries another when one is taken. */
function generateName(): string {
  return `${pick(FIRST)}-${pick(SECOND)}-${randomInt(1, 10_000)}`;
}

function pick(words: string[]): string {
  return words[randomInt(words.length)] ?? 'sand';
}
