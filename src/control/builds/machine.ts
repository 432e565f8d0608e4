/** The sandbox of a stage: started when the first step needs it, and gone with the stage. */

import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { Captures } from '../lifecycle/capture.ts';
import type { Creation } from '../lifecycle/creation.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { AgentLink, RunningProcess } from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import type { SandboxUses } from '../work/sandbox-uses.ts';
import type { Base } from './base.ts';

export interface MachineDependencies {
  creation: Pick<Creation, 'createFrom'>;
  machines: Pick<Machines, 'command'>;
  captures: Pick<Captures, 'take'>;
  uses: Pick<SandboxUses, 'run'>;
  agent: Pick<AgentLink, 'openProcess'>;
  environments: Environments;
  unfinished: Pick<Unfinished, 'attempt'>;
}

/** The build that a machine is of. */
export interface BuildOfMachine {
  caller: User;
  /** Name of the snapshot, for people who see the sandbox. */
  label: string;
  signal: AbortSignal;
}

export interface Program {
  argv: string[];
  cwd?: string;
  env?: Record<string, string>;
  user?: string | null;
  /** Standard input; empty by default. */
  input?: AsyncIterable<Uint8Array>;
}

type Show = (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<void> | undefined;

/** The part of a helper's errors that is kept. */
const ERROR_BYTES = 2_000;

export class StageMachine {
  readonly #deps: MachineDependencies;
  readonly #caller: User;
  readonly #label: string;
  readonly #base: Base;
  readonly #signal: AbortSignal;
  #sandbox: Sandbox | null = null;

  constructor(dependencies: MachineDependencies, { caller, label, signal }: BuildOfMachine, base: Base) {
    this.#deps = dependencies;
    this.#caller = caller;
    this.#label = label;
    this.#base = base;
    this.#signal = signal;
  }

  /** Runs a program to its end, as root by default, and returns its exit code. Its output waits for its reader. */
  run(program: Program, show: Show): Promise<number> {
    return this.#work(program, async (running) => {
      await Promise.all([shown(running, 'stdout', show), shown(running, 'stderr', show)]);
    });
  }

  /** Runs one of the helpers that work on files, with its output as a stream. Rejects when it fails. */
  async help<T>(
    program: Program,
    read: (output: AsyncIterable<Buffer>) => Promise<T>,
    failed: (text: string) => Error,
  ): Promise<T> {
    let result: { value: T } | null = null;
    let errors = '';
    const code = await this.#work(program, async (running) => {
      const told = shown(running, 'stderr', (_stream, bytes) => {
        errors = (errors + bytes.toString()).slice(0, ERROR_BYTES);
        return undefined;
      });
      result = { value: await read(running.stdout as AsyncIterable<Buffer>) };
      running.stdout.destroy();
      await told;
    });
    if (code !== 0 || result === null) throw failed(errors.trim() || `it ended with ${code}`);
    return (result as { value: T }).value;
  }

  /** Runs a helper and returns what it prints. Rejects with `failed_precondition`, and the line, when it fails. */
  text(program: Program, line: number, failed: (text: string) => Error = copyFailed(line)): Promise<string> {
    return this.help(program, collected, failed);
  }

  /** Captures the disk as it is now. */
  async capture(captureId: string): Promise<{ sizeBytes: number }> {
    const { sizeBytes } = await this.#deps.captures.take(await this.#started(), captureId);
    return { sizeBytes };
  }

  /** Deletes the sandbox; repeated until it succeeds. */
  async end(): Promise<void> {
    const sandbox = this.#sandbox;
    if (!sandbox) return;
    this.#sandbox = null;
    await this.#deps.unfinished.attempt(`delete the sandbox of a build ${sandbox.id}`, async () => {
      await this.#deps.machines.command(sandbox.id, { type: 'delete' }).catch((error: unknown) => {
        if (!(error instanceof SandhavenError) || error.code !== 'not_found') throw error;
      });
    });
  }

  async #work(program: Program, read: (running: RunningProcess) => Promise<void>): Promise<number> {
    const { uses, agent, environments } = this.#deps;
    const { id } = await this.#started();
    const timeout = AbortSignal.timeout(limits.build.stepMs);
    const signal = AbortSignal.any([this.#signal, timeout]);
    try {
      return await uses.run(this.#caller, id, async (sandbox) => {
        const { argv, cwd = '/', user } = program;
        const env = await environments.of(sandbox, { user: user ?? undefined, env: program.env ?? {} });
        const running = await agent.openProcess(id, { user: user ?? undefined, argv, cwd, env }, signal);
        try {
          const [end] = await Promise.all([running.ended, read(running), fed(running, program.input)]);
          return end.exitCode;
        } finally {
          running.close();
        }
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      throw new SandhavenError(
        'timeout',
        `The step took longer than ${limits.build.stepMs / 60_000} minutes.`,
        {
          hint: 'Divide it into several.',
        },
      );
    }
  }

  async #started(): Promise<Sandbox> {
    this.#signal.throwIfAborted();
    if (this.#sandbox) return this.#sandbox;
    const { image, reference, captureId, resources, network } = this.#base;
    const sandbox = await this.#deps.creation.createFrom(
      this.#caller,
      {
        name: `build-${this.#label.slice(0, limits.sandboxNameChars - 13)}-${randomText(6)}`,
        language: 'python',
        envVars: {},
        labels: {},
        ephemeral: true,
        secretIds: [],
        autoStopMinutes: limits.build.autoStopMinutes,
      },
      {
        ...{ snapshot: null, image: reference, entrypoint: null, user: null, imageConfig: null },
        ...{ wanted: { digest: image.digest }, resources, network, captureId },
      },
    );
    this.#sandbox = sandbox;
    return sandbox;
  }
}

async function shown(running: RunningProcess, stream: 'stdout' | 'stderr', show: Show): Promise<void> {
  for await (const bytes of running[stream] as AsyncIterable<Buffer>) await show(stream, bytes);
}

/** A program that ends, or closes its input, before it has read all of it is no error here: its exit code tells. */
async function fed(
  { stdin, ended }: RunningProcess,
  input: AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  let isOver = false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  stdin
    .on('error', end)
    .on('close', end)
    .on('drain', () => wake());
  ended.then(end, end);
  for await (const piece of input ?? []) {
    if (isOver) return;
    if (stdin.write(piece) || isOver) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  if (!isOver) stdin.end();
}

export const copyFailed = (line: number) => (text: string) =>
  new SandhavenError(
    'failed_precondition',
    `Line ${line}: the files could not be copied: ${text.slice(0, 500)}`,
    {
      hint: 'COPY, ADD and WORKDIR work by sh and tar of the stage itself: begin with an image that has both.',
    },
  );

/** Most of a helper's output that is kept in memory. */
const TEXT_BYTES = 4 * 1024 * 1024;

async function collected(output: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of output) {
    bytes += piece.length;
    if (bytes <= TEXT_BYTES) pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
