/** One stage: its instructions in order, each step that changes files in the stage's sandbox, captured for the next build. */

import { SandhavenError } from '../../model/errors.ts';
import { newStepId } from '../../model/ids.ts';
import { ownerIdOf } from '../../model/user.ts';
import type { CapturedDisks, DockerfileInstruction } from '../ports/index.ts';
import { type Base, keyOf } from './base.ts';
import type { Context } from './context.ts';
import { archiveFormat, bring, itemsOf, ownerOf, type Selected, selectedOf, unpack } from './copy.ts';
import { foundInStage, itemsOfStage } from './from-stage.ts';
import { type Copying, interpret, type Scope, type Settings, type Work } from './interpret.ts';
import { type BuildOfMachine, type MachineDependencies, StageMachine } from './machine.ts';
import type { Stage } from './plan.ts';
import type { Progress } from './progress.ts';
import type { StepCache } from './step-cache.ts';

/** Parts that all stages of a build have in common. */
export interface BuildScope extends Scope, BuildOfMachine {
  context: Context;
  disks: CapturedDisks;
  cache: StepCache;
  machines: MachineDependencies;
  isCached: boolean;
  progress: Progress;
  /** Disks that the build holds until its end. */
  held: string[];
}

/** Finds the base that files are copied from, by the text of `--from`. */
type SourceOf = (from: string, line: number) => Promise<Base>;

export class StageBuild {
  readonly #build: BuildScope;
  readonly #stage: Stage;
  readonly #sourceOf: SourceOf;
  #base: Base;
  #machine: StageMachine;
  #isCached: boolean;

  constructor(build: BuildScope, stage: Stage, base: Base, sourceOf: SourceOf) {
    this.#build = build;
    this.#stage = stage;
    this.#base = base;
    this.#sourceOf = sourceOf;
    this.#isCached = build.isCached;
    this.#machine = new StageMachine(build.machines, build, base);
  }

  /** Carries out all instructions; returns what the stage has become. Its sandbox is gone then, however this ends. */
  async build(): Promise<Base> {
    try {
      for (const instruction of this.#stage.instructions) await this.#instruct(instruction);
      return this.#base;
    } finally {
      await this.#machine.end();
    }
  }

  async #instruct(instruction: DockerfileInstruction): Promise<void> {
    const { progress, signal } = this.#build;
    signal.throwIfAborted();
    const { settings, work, notes } = interpret(instruction, this.#base.settings, this.#build);
    if (work === null) progress.step(this.#stage, instruction);
    else await this.#step(instruction, settings, work);
    for (const note of notes) progress.note(instruction.line, note);
    this.#base = { ...this.#base, settings };
  }

  async #step(instruction: DockerfileInstruction, settings: Settings, work: Work): Promise<void> {
    const { progress, cache, disks, caller, held } = this.#build;
    const { line } = instruction;
    const selected =
      work.kind === 'copy' && work.from === null ? await selectedOf(this.#build.context, work, line) : [];
    const source = work.kind === 'copy' && work.from !== null ? await this.#sourceOf(work.from, line) : null;
    const key = keyOf(
      this.#base.key,
      work,
      insideOf(work, settings),
      selected.map(identityOf),
      source?.key ?? null,
    );
    const known = this.#isCached ? await cache.find(disks, ownerIdOf(caller), key) : null;
    progress.step(this.#stage, instruction, known !== null);
    if (known) {
      held.push(known.captureId);
      this.#become(key, known.captureId);
      return;
    }
    this.#isCached = false;
    if (work.kind === 'copy') await this.#copy(work, selected, source, line);
    else await this.#carryOut(work, settings, line);
    await this.#capture(key);
  }

  /** A later step of this stage starts from this disk, unless its sandbox runs. */
  #become(key: string, captureId: string): void {
    this.#base = { ...this.#base, key, captureId };
    this.#machine = new StageMachine(this.#build.machines, this.#build, this.#base);
  }

  async #carryOut(work: Exclude<Work, Copying>, settings: Settings, line: number): Promise<void> {
    const machine = this.#machine;
    if (work.kind === 'folder') {
      const script = '[ -d "$1" ] || { mkdir -p -- "$1" && { [ -z "$2" ] || chown "$2" -- "$1"; }; }';
      await machine.text({ argv: ['sh', '-c', script, 'sh', work.path, settings.user ?? ''] }, line);
      return;
    }
    if (work.kind === 'fetch') {
      const owner = work.chown === null ? '' : await ownerOf(machine, work.chown, line);
      const script = `mkdir -p -- "$(dirname -- "$2")" && { curl -fsSL -o "$2" -- "$1" || wget -q -O "$2" -- "$1"; } &&
        chmod "$3" -- "$2" && { [ -z "$4" ] || chown "$4" -- "$2"; }`;
      const mode = (work.chmod ?? 0o600).toString(8);
      const argv = [
        'sh',
        '-c',
        script,
        'sh',
        work.url,
        work.target,
        mode,
        owner ? `${owner.uid}:${owner.gid}` : '',
      ];
      await machine.text({ argv }, line);
      return;
    }
    const env = Object.fromEntries([...settings.args, ...settings.env]);
    const { progress } = this.#build;
    const program = { argv: work.argv, cwd: settings.workdir, env, user: settings.user };
    const code = await machine.run(program, (stream, bytes) => progress.output(stream, bytes));
    if (code === 0) return;
    progress.failed(line, code);
    throw new SandhavenError(
      'failed_precondition',
      `The command of line ${line} ended with exit code ${code}.`,
      {
        parameter: 'file',
        hint: 'Its output has the reason. Nothing was kept but the steps before it.',
      },
    );
  }

  async #copy(work: Copying, selected: Selected[], source: Base | null, line: number): Promise<void> {
    const machine = this.#machine;
    const owner = work.chown === null ? null : await ownerOf(machine, work.chown, line);
    if (source) {
      const other = new StageMachine(this.#build.machines, this.#build, source);
      try {
        const found = await foundInStage(other, work.sources, line);
        const isSingleFile = found.length === 1 && found[0]?.isFolder === false;
        await bring(machine, itemsOfStage(other, found, line), work, { owner, isSingleFile, line });
      } finally {
        await other.end();
      }
      return;
    }
    const plain: Selected[] = [];
    for (const one of selected) {
      const format = work.unpacks ? await archiveFormat(one) : null;
      if (format === null) plain.push(one);
      else await unpack(machine, one, format, work.target, line);
    }
    if (plain.length === 0 && selected.length > 0) return;
    const isSingleFile = selected.length === 1 && plain[0]?.isNamed === true;
    const usual = owner ?? { uid: 0, gid: 0 };
    await bring(machine, itemsOf(plain), work, { owner: usual, isSingleFile, line });
  }

  async #capture(key: string): Promise<void> {
    const { cache, disks, caller, held } = this.#build;
    const captureId = newStepId();
    const made = { captureId, ...(await this.#machine.capture(captureId)) };
    try {
      await cache.keep(disks, ownerIdOf(caller), key, made);
    } catch (error) {
      await disks.drop(captureId);
      throw error;
    }
    held.push(captureId);
    this.#base = { ...this.#base, key, captureId };
  }
}

/** Settings that a step's outcome depends on, besides its own words and the files before it. */
function insideOf(work: Work, { env, args, workdir, user }: Settings): unknown {
  if (work.kind === 'folder') return user;
  return work.kind === 'run' ? [[...args].sort(), [...env].sort(), workdir, user] : null;
}

/** All that matters of a file: its time does not. */
const identityOf = ({ path, file: { type, mode, target, digest } }: Selected) => [
  path,
  type,
  mode,
  target,
  digest,
];
