/**
 * Builds that outlive their request: each is announced, begun, and read by its id until an hour after its end. They live in this
 * process, and end with it, or with the key that began them; the steps that were done are kept.
 */
import { type Release, Shares } from '../../fairness/shares.ts';
import { canceled, isDefect, notFound, SandhavenError } from '../../model/errors.ts';
import { newBuildId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { type Caller, ownerIdOf, type User } from '../../model/user.ts';
import type { IdentityService } from '../callers/identity.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { BuildRequest, PreparedBuild } from './build.ts';
import type { BuildEvent } from './progress.ts';

/** Sandbox that its caller creates from the snapshot at once. */
export interface SandboxToBe {
  name?: string;
  user?: string;
  labels: Record<string, string>;
}

/** Name and sizes that a build was announced with, and the sandbox that it is for. */
export type Announced = Pick<BuildRequest, 'name' | 'resources'> & { sandbox?: SandboxToBe };

/** Event of a build, with the time when it came. */
export type LoggedEvent = BuildEvent & { at: number };

export interface DetachedView {
  id: string;
  announced: Announced;
  announcedAt: number;
  state: 'waiting' | 'building' | 'ready' | 'failed';
  /** From the position that was asked for; a part of them where there are many. */
  events: LoggedEvent[];
  /** Position after them. */
  next: number;
  snapshot: Snapshot | null;
  /** Of one that failed. */
  error: unknown;
  /** Line of the instruction that was begun last; 0 before the first. */
  line: number;
}

type Detached = Omit<DetachedView, 'next'> & {
  ownerId: string;
  /** Since its announcement, its beginning, or its end. */
  since: number;
  ending: AbortController;
  ended: Promise<void>;
  held: Release[];
  /** Resolves with the next event or state. */
  news: PromiseWithResolvers<void>;
};

const { detached: bounds, detachedLogs } = limits.build;
/** Taken of a log's share by an event beside its text: a program may print a byte at a time. */
const EVENT_BYTES = 256;

export interface DetachedDependencies {
  identity: Pick<IdentityService, 'whileValid'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
}

export class DetachedBuilds {
  readonly #deps: DetachedDependencies;
  readonly #builds = new Map<string, Detached>();
  readonly #shares = new Shares({ ...bounds, what: 'builds are kept' });
  readonly #logs = new Shares({ ...detachedLogs, what: 'bytes of logs are kept' });

  constructor(dependencies: DetachedDependencies) {
    this.#deps = dependencies;
  }

  /** Rejects with `resource_exhausted` while the owner has as many that are waiting or building. Those that ended go first. */
  announce(caller: User, announced: Announced): string {
    const ownerId = ownerIdOf(caller);
    this.#sweep();
    if (!this.#shares.hasShare(ownerId, 1) || !this.#shares.hasRoom(1)) this.#forgetOldest(ownerId);
    const id = newBuildId();
    const now = this.#deps.clock.now();
    this.#builds.set(id, {
      ...{ id, ownerId, announced, state: 'waiting', events: [], snapshot: null, error: null, line: 0 },
      ...{ announcedAt: now, since: now, ending: new AbortController(), ended: Promise.resolve() },
      held: [this.#shares.take(ownerId)],
      news: Promise.withResolvers(),
    });
    return id;
  }

  /** Announces it and begins it. One that cannot be prepared is forgotten. */
  async start(
    caller: Caller,
    announced: Announced,
    prepare: (id: string, signal: AbortSignal) => Promise<PreparedBuild>,
  ): Promise<string> {
    const id = this.announce(caller, announced);
    try {
      await this.begin(caller, id, (_announced, signal) => prepare(id, signal));
      return id;
    } catch (error) {
      await this.remove(caller, id);
      throw error;
    }
  }

  /** Begins it, and resolves once it is prepared. One that cannot be prepared is waiting as before. */
  async begin(
    caller: Caller,
    id: string,
    prepare: (announced: Announced, signal: AbortSignal) => Promise<PreparedBuild>,
  ): Promise<void> {
    const build = this.#of(caller, id);
    if (build.state !== 'waiting')
      throw new SandhavenError('failed_precondition', 'The build was begun already.');
    build.state = 'building';
    const unwatch = this.#deps.identity.whileValid(caller, () => build.ending.abort(keyEnded()));
    try {
      const prepared = await prepare(build.announced, build.ending.signal);
      build.ended = this.#run(build, prepared).finally(unwatch);
    } catch (error) {
      unwatch();
      build.state = 'waiting';
      throw error;
    } finally {
      build.since = this.#deps.clock.now();
    }
  }

  /** @param from Position of the first event that is wanted. */
  read(caller: User, id: string, from: number): DetachedView {
    const build = this.#of(caller, id);
    const { announced, announcedAt, state, snapshot, error, line } = build;
    const events = build.events.slice(from, from + bounds.eventsOfAnswer);
    const next = from + events.length;
    return { id, announced, announcedAt, state, events, next, snapshot, error, line };
  }

  /** Yields all events, and those that come until the signal or the end of the build. */
  async *follow(caller: User, id: string, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    const build = this.#of(caller, id);
    signal.addEventListener('abort', () => tell(build), { once: true });
    for (let at = 0; this.#builds.has(id); ) {
      const { events, next, state } = this.read(caller, id, at);
      yield* events;
      at = next;
      if (events.length > 0) continue;
      if (state !== 'building' || signal.aborted) return;
      await build.news.promise;
    }
  }

  /** Returns the newest of this name or id that waits, is being built, or failed; null for none. */
  find(caller: User, reference: string): DetachedView | null {
    const id = this.#newest(
      caller,
      (build) => [build.id, build.announced.name].includes(reference) && build.state !== 'ready',
    );
    return id === null ? null : this.read(caller, id, 0);
  }

  /** Returns the id of the build that a snapshot is of; null where none is known. */
  makerOf(caller: User, snapshotId: string): string | null {
    return this.#newest(caller, ({ snapshot }) => snapshot?.id === snapshotId);
  }

  #newest(caller: User, isWanted: (build: Detached) => boolean): string | null {
    const ownerId = ownerIdOf(caller);
    const builds = [...this.#builds.values()].filter((build) => build.ownerId === ownerId && isWanted(build));
    return builds.at(-1)?.id ?? null;
  }

  /** Ends it where it runs, and forgets it. Its snapshot, where there is one, stays. */
  async remove(caller: User, id: string): Promise<void> {
    await this.#end(this.#of(caller, id), canceled());
  }

  /** Ends all. */
  async close(): Promise<void> {
    const stopping = new SandhavenError('unavailable', 'The service is stopping; the build was ended.');
    await Promise.all([...this.#builds.values()].map((build) => this.#end(build, stopping)));
  }

  async #run(build: Detached, prepared: PreparedBuild): Promise<void> {
    try {
      build.snapshot = await prepared.run((event) => this.#log(build, event));
      build.state = 'ready';
    } catch (error) {
      // Once, and not to each who asks for it.
      if (isDefect(error, build.ending.signal.aborted))
        this.#deps.log.error('a detached build failed', { build: build.id, error });
      build.error = error;
      build.state = 'failed';
    } finally {
      build.since = this.#deps.clock.now();
      tell(build);
      // The room of its context is gone with the process at the latest.
      await prepared.close().catch(() => {});
    }
  }

  /** Past the bound the output is left out, and the rest is kept: it is little. */
  #log(build: Detached, event: BuildEvent): undefined {
    if (!this.#builds.has(build.id)) return;
    if (event.event === 'output') {
      const bytes = EVENT_BYTES + Buffer.byteLength(event.text);
      if (!this.#logs.hasShare(build.ownerId, bytes) || !this.#logs.hasRoom(bytes)) return;
      build.held.push(this.#logs.take(build.ownerId, bytes));
    }
    if (event.event === 'step') build.line = event.line;
    build.events.push({ ...event, at: this.#deps.clock.now() });
    tell(build);
  }

  /** An id of another owner's is as unknown as any. */
  #of(caller: User, id: string): Detached {
    this.#sweep();
    const build = this.#builds.get(id);
    if (build?.ownerId === ownerIdOf(caller)) return build;
    throw notFound('build', `There is no build '${id}', or it ended more than an hour ago.`);
  }

  #sweep(): void {
    const before = this.#deps.clock.now() - bounds.keptMs;
    for (const build of this.#builds.values())
      if (build.state !== 'building' && build.since < before) this.#forget(build);
  }

  #forgetOldest(ownerId: string): void {
    const ended = [...this.#builds.values()].filter(
      (build) => build.ownerId === ownerId && (build.state === 'ready' || build.state === 'failed'),
    );
    const [oldest] = ended.sort((a, b) => a.since - b.since);
    if (oldest) this.#forget(oldest);
  }

  #forget(build: Detached): void {
    this.#builds.delete(build.id);
    for (const release of build.held.splice(0)) release();
    tell(build);
  }

  async #end(build: Detached, reason: unknown): Promise<void> {
    build.ending.abort(reason);
    this.#forget(build);
    await build.ended;
  }
}

function keyEnded(): SandhavenError {
  const hint = 'Build again with another key: the steps that were done are kept.';
  return new SandhavenError('unauthenticated', 'The key that began the build is not valid any more.', {
    hint,
  });
}

function tell(build: Detached): void {
  build.news.resolve();
  build.news = Promise.withResolvers();
}
