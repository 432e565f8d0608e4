/** Builds of snapshots from Dockerfiles, in sandboxes of their owner. */
import { type Release, Shares } from '../../fairness/shares.ts';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { assertNotReserved, assertRoomForSnapshot } from '../images/snapshots.ts';
import type { Captures } from '../lifecycle/capture.ts';
import type { Dockerfile, OpenSpool, ParseDockerfile, SnapshotStore } from '../ports/index.ts';
import { type Base, type BaseDependencies, baseOf } from './base.ts';
import { Context } from './context.ts';
import { interpretationOf } from './interpret.ts';
import type { MachineDependencies } from './machine.ts';
import { type Plan, planOf, type Stage } from './plan.ts';
import { Progress, type TakeEvent } from './progress.ts';
import { assertReplaceable, type BuiltDependencies, keepBuilt } from './result.ts';
import { type BuildScope, StageBuild } from './stage.ts';
import type { StepCache } from './step-cache.ts';

export interface BuildRequest {
  /** Of the snapshot. One of this name that was built goes when the new one is there. */
  name: string;
  /** Path of the Dockerfile in the context. */
  file: string;
  /** Stage; the last by default. */
  target?: string;
  args: ReadonlyMap<string, string>;
  /** false: every step runs. */
  isCached: boolean;
  /** In place of the file: its text, or what it says. */
  dockerfile?: Dockerfile | string;
  /** Sizes of the snapshot, in place of those that it begins with; its disk is never smaller than that one. */
  resources?: Partial<Resources>;
}

export interface BuildDependencies extends BaseDependencies, MachineDependencies, BuiltDependencies {
  snapshots: SnapshotStore;
  captures: Captures;
  cache: StepCache;
  openSpool: OpenSpool;
  parse: ParseDockerfile;
}

/** A build whose context is here and whose Dockerfile is understood. */
export interface PreparedBuild {
  /** Resolves with the active snapshot; a failure leaves none, and no sandbox. */
  run(take: TakeEvent): Promise<Snapshot>;
  /** Frees the context and the owner's share. Awaited in any case. */
  close(): Promise<void>;
}

export class BuildService {
  readonly #deps: BuildDependencies;
  readonly #shares = new Shares({ ...limits.shares.builds, what: 'builds are running' });

  constructor(dependencies: BuildDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Takes the context, a tar, and reads the Dockerfile. Rejects with `invalid_argument`, with the line, for what it cannot take;
   * `too_large` past a bound of the context; `resource_exhausted` while the owner's share of builds is running; `already_exists` for the name of a snapshot that was not built.
   */
  async prepare(
    caller: User,
    request: BuildRequest,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<PreparedBuild> {
    const { snapshots, captures, openSpool, parse } = this.#deps;
    const { disks } = captures;
    assertNotReserved(request.name);
    assertArgs(request.args);
    const owner = ownerIdOf(caller);
    await assertRoomForSnapshot(snapshots, owner);
    assertReplaceable(await snapshots.find(owner, request.name));
    const done = this.#shares.take(owner);
    let context: Context | null = null;
    try {
      context = await Context.receive(openSpool, body);
      const { dockerfile: given = await dockerfileOf(context, request.file) } = request;
      const dockerfile = typeof given === 'string' ? await parse(bounded(given)) : given;
      const plan = planOf(dockerfile, request.args, request.target);
      for (const instruction of plan.stages.flatMap(({ instructions }) => instructions))
        interpretationOf(instruction);
      const received = context;
      return {
        run: (take) => this.#run(caller, request, { plan, context: received, disks, take, signal }),
        close: () => closed(received, done),
      };
    } catch (error) {
      await closed(context, done);
      throw error;
    }
  }

  async #run(
    caller: User,
    request: BuildRequest,
    {
      plan,
      take,
      ...parts
    }: Pick<BuildScope, 'context' | 'disks' | 'signal'> & { plan: Plan; take: TakeEvent },
  ): Promise<Snapshot> {
    const { cache } = this.#deps;
    const { stages, escapeCharacter, globals } = plan;
    const progress = new Progress(
      take,
      stages.reduce((sum, stage) => sum + 1 + stage.instructions.length, 0),
    );
    const build: BuildScope = {
      ...{ ...parts, caller, cache, progress, escapeCharacter, globals, machines: this.#deps, held: [] },
      ...{ label: request.name, given: request.args, isCached: request.isCached },
    };
    try {
      const built = await this.#stages(build, stages);
      parts.signal.throwIfAborted();
      return await keepBuilt(this.#deps, caller, request, built);
    } finally {
      await cache.release(parts.disks, build.held);
    }
  }

  async #stages(build: BuildScope, stages: readonly Stage[]): Promise<Base> {
    const { caller, progress, signal } = build;
    const built = new Map<Stage | string, Base>();
    const resolve = async (from: Stage | string, line: number): Promise<Base> => {
      const known = built.get(from);
      if (known) return known;
      if (typeof from !== 'string') throw new Error(`stage ${from.name} is not built yet`);
      const base = await baseOf(this.#deps, caller, { reference: from, line, signal });
      built.set(from, base);
      return base;
    };
    let last: Base | null = null;
    for (const stage of stages) {
      const text = typeof stage.from === 'string' ? stage.from : stage.from.name;
      progress.step(stage, { line: stage.line, keyword: 'FROM', flags: [], text });
      const base = begun(await resolve(stage.from, stage.line));
      const sourceOf = (from: string, line: number) => resolve(stage.sources.get(from) ?? from, line);
      last = await new StageBuild(build, stage, base, sourceOf).build();
      built.set(stage, last);
    }
    if (last === null) throw new Error('a plan without a stage');
    return last;
  }
}

/** A stage inherits all but what belongs to the one before it. */
function begun(base: Base): Base {
  return { ...base, settings: { ...base.settings, args: new Map(), isCmdOwn: false } };
}

async function dockerfileOf(context: Context, file: string): Promise<string> {
  const text = await context.text(file, limits.build.dockerfileBytes);
  if (text === null) {
    const hint = 'Give its path in the context, such as docker/Dockerfile.';
    throw invalidArgument('file', `The context has no file '${file}'.`, hint);
  }
  await context.ignore(file);
  return text;
}

function bounded(dockerfile: string): string {
  const bytes = Buffer.byteLength(dockerfile);
  const { dockerfileBytes } = limits.build;
  if (bytes <= dockerfileBytes) return dockerfile;
  const detail = `The Dockerfile has ${bytes} bytes; at most ${dockerfileBytes} are taken.`;
  throw new SandhavenError('too_large', detail, { hint: 'Put long commands into a script of the context.' });
}

async function closed(context: Context | null, done: Release): Promise<void> {
  try {
    await context?.close();
  } finally {
    done();
  }
}

function assertArgs(args: ReadonlyMap<string, string>): void {
  const { args: most, environmentBytes } = limits.build;
  const bytes = [...args].reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (args.size <= most && bytes <= environmentBytes) return;
  const detail = `There are ${args.size} build arguments with ${bytes} bytes; at most ${most} with ${environmentBytes} are taken.`;
  throw invalidArgument('build_arg', detail, 'Put long values into a file of the context.');
}
