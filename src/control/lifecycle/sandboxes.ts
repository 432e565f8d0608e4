/** Lifecycle of a caller's sandboxes, for the lifecycle tools. */
import { invalidArgument } from '../../model/errors.ts';
import { deletedByStop } from '../../model/lifecycle.ts';
import { openNetwork } from '../../model/network/setting.ts';
import type { Deadline, Sandbox, SeenSandbox } from '../../model/sandbox.ts';
import { cannotSleep } from '../../model/sleep.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { concerns } from '../audit/scope.ts';
import type { TrafficWatch } from '../network/traffic/traffic-watch.ts';
import type {
  Clock,
  OnProgress,
  Page,
  Runtime,
  SandboxFilter,
  SandboxStore,
  SandboxUsage,
} from '../ports/index.ts';
import type { Activity } from '../turns/activity.ts';
import type { Idempotency } from '../turns/idempotency.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { CreateRequest, Creation } from './creation.ts';
import type { Machines } from './machines.ts';
import type { Settled } from './operations.ts';

export interface AutoSettings {
  autoStopMinutes?: number;
  autoArchiveMinutes?: number;
  autoDeleteMinutes?: number;
}

export interface SandboxServiceDependencies {
  store: SandboxStore;
  creation: Creation;
  machines: Machines;
  activity: Activity;
  idempotency: Idempotency;
  runtime: Pick<Runtime, 'usage' | 'sleep'>;
  traffic: Pick<TrafficWatch, 'reasonOf'> | null;
  clock: Clock;
}

export class SandboxService {
  readonly #deps: SandboxServiceDependencies;

  constructor(dependencies: SandboxServiceDependencies) {
    this.#deps = dependencies;
  }

  async create(
    caller: User,
    request: CreateRequest,
    options: { onProgress?: OnProgress; idempotencyKey?: string } = {},
  ): Promise<Sandbox> {
    const sandbox = await this.#create(caller, request, options);
    concerns(sandbox.id);
    return sandbox;
  }

  async #create(
    caller: User,
    request: CreateRequest,
    options: { onProgress?: OnProgress; idempotencyKey?: string },
  ): Promise<Sandbox> {
    const { idempotencyKey: key, onProgress } = options;
    if (key === undefined) return this.#deps.creation.create(caller, request, onProgress);
    const answer = await this.#deps.idempotency.once(
      ownerIdOf(caller),
      key,
      ['CreateSandbox', request],
      async (keptSince) => {
        // Exists when the service was killed between the creation and the storage of its answer.
        const made = await this.#deps.store.createdUnder(ownerIdOf(caller), key, keptSince);
        const sandbox =
          made ?? (await this.#deps.creation.create(caller, { ...request, creationKey: key }, onProgress));
        return { ...sandbox, envVars: {} };
      },
    );
    // Answers that an earlier version kept have none.
    const { network = openNetwork, secretIds = [], user = null, deadline = null, sleep = null } = answer;
    return { ...answer, network, secretIds, user, deadline, sleep };
  }

  async get(caller: User, reference: string): Promise<Sandbox> {
    return this.seen(await resolveSandbox(this.#deps.store, caller, reference));
  }

  /** Returns the resources in use now. */
  usage({ id }: Sandbox): Promise<SandboxUsage> {
    return this.#deps.runtime.usage(id);
  }

  async list(
    caller: User,
    filter: Omit<SandboxFilter, 'ownerId'>,
    page: Page,
  ): Promise<{ sandboxes: Sandbox[]; totalCount: number }> {
    const found = await this.#deps.store.list({ ...filter, ownerId: ownerIdOf(caller) }, page);
    return { ...found, sandboxes: found.sandboxes.map((sandbox) => this.seen(sandbox)) };
  }

  async start(caller: User, reference: string): Promise<Sandbox> {
    return (await this.#command(caller, reference, 'start')).sandbox;
  }

  stop(caller: User, reference: string): Promise<Settled> {
    return this.#command(caller, reference, 'stop');
  }

  async archive(caller: User, reference: string): Promise<Sandbox> {
    return (await this.#command(caller, reference, 'archive')).sandbox;
  }

  async delete(caller: User, reference: string): Promise<{ id: string; name: string }> {
    const { id, name } = await resolveSandbox(this.#deps.store, caller, reference);
    await this.#deps.machines.command(id, { type: 'delete' });
    return { id, name };
  }

  /** Changes the settings; autoDeleteMinutes 0 deletes a stopped sandbox. */
  async configure(caller: User, reference: string, settings: AutoSettings): Promise<Settled> {
    if (Object.values(settings).every((value) => value === undefined)) {
      throw invalidArgument(
        'auto_stop_minutes',
        'Nothing to change: none of auto_stop_minutes, auto_archive_minutes, auto_delete_minutes was given.',
        'Give at least one of them.',
      );
    }
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const sandbox = await this.#deps.machines.change(id, () => settings);
    const gone = settings.autoDeleteMinutes === 0 && sandbox.state !== 'started' && deletedByStop(sandbox);
    if (!gone) return { sandbox: this.seen(sandbox), deleted: false };
    return this.#deps.machines.command(id, { type: 'delete' });
  }

  /** Sets or moves the deadline, by seconds from now; 0 removes it. Without an action it keeps the one that it had. */
  async setDeadline(
    caller: User,
    reference: string,
    seconds: number,
    action?: Deadline['action'],
  ): Promise<Sandbox> {
    if (action === 'sleep' && !this.#deps.runtime.sleep) throw cannotSleep();
    const at = this.#deps.clock.now() + seconds * 1_000;
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const moved = (before: Deadline | null) => ({ at, action: action ?? before?.action ?? 'stop' });
    const change = ({ deadline }: Sandbox) => ({ deadline: seconds === 0 ? null : moved(deadline) });
    return this.seen(await this.#deps.machines.change(id, change));
  }

  async resize(
    caller: User,
    reference: string,
    request: { cpu?: number; memory?: number; disk?: number },
  ): Promise<Sandbox> {
    if (Object.values(request).every((value) => value === undefined)) {
      throw invalidArgument(
        'cpu',
        'Nothing to change: at least one of cpu, memory_gb, disk_gb is required.',
        'Give at least one of them.',
      );
    }
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    return this.seen((await this.#deps.machines.command(id, { type: 'resize', request })).sandbox);
  }

  /** Replaces all labels. */
  async setLabels(caller: User, reference: string, labels: Record<string, string>): Promise<Sandbox> {
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    return this.seen(await this.#deps.machines.change(id, () => ({ labels })));
  }

  async #command(caller: User, reference: string, type: 'start' | 'stop' | 'archive'): Promise<Settled> {
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const settled = await this.#deps.machines.command(id, { type });
    return { ...settled, sandbox: this.seen(settled.sandbox) };
  }

  /** Adds activity that is not flushed yet, its sleep, and the reason for a pause, or for a network that is refused. */
  seen(sandbox: Sandbox): SeenSandbox {
    const { id, stateReason } = sandbox;
    return {
      ...sandbox,
      stateReason:
        stateReason ?? this.#deps.machines.pausedReason(id) ?? this.#deps.traffic?.reasonOf(id) ?? null,
      lastActivityAt: this.#deps.activity.last(sandbox.id, sandbox.lastActivityAt),
      asleepSince: this.#deps.runtime.sleep?.since(id) ?? null,
    };
  }
}
