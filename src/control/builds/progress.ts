/** Progress of a build as its caller sees it, in order. Output past the bound is left out, and the build goes on. */
import { limits } from '../../model/limits.ts';
import { OutputText } from '../../model/output-text.ts';
import type { DockerfileInstruction } from '../ports/index.ts';
import type { Stage } from './plan.ts';

export type BuildEvent =
  | { event: 'step'; step: number; of: number; stage: string; line: number; text: string; cached?: boolean }
  | { event: 'output'; stream: 'stdout' | 'stderr'; text: string }
  | { event: 'note'; line: number; text: string }
  | { event: 'failed'; line: number; exit_code: number };

/** Takes an event. Returns a promise when no more is wanted before it resolves. */
export type TakeEvent = (event: BuildEvent) => Promise<void> | undefined;

/** Shown of an instruction. */
const TEXT_CHARS = 200;

export class Progress {
  readonly #take: TakeEvent;
  readonly #of: number;
  readonly #decoded = new OutputText();
  #step = 0;
  #bytes = 0;

  /** @param of Steps in all. */
  constructor(take: TakeEvent, of: number) {
    this.#take = take;
    this.#of = of;
  }

  /** @param cached Undefined for one that changes no file. */
  step(
    stage: Stage,
    { line, keyword, flags, text }: Pick<DockerfileInstruction, 'line' | 'keyword' | 'flags' | 'text'>,
    cached?: boolean,
  ): void {
    this.#step += 1;
    const words = [
      keyword,
      ...flags.map(({ name, value }) => `--${name}${value === null ? '' : `=${value}`}`),
      text,
    ];
    const shown = words.join(' ').replace(/\s+/g, ' ').slice(0, TEXT_CHARS);
    const place = { step: this.#step, of: this.#of, stage: stage.name, line };
    this.#take({ event: 'step', ...place, text: shown, ...(cached === undefined ? {} : { cached }) });
  }

  output(stream: 'stdout' | 'stderr', bytes: Buffer): Promise<void> | undefined {
    const isFull = this.#bytes >= limits.build.logBytes;
    this.#bytes += bytes.length;
    if (isFull) return undefined;
    if (this.#bytes >= limits.build.logBytes)
      this.note(0, 'The build has printed more than its log keeps: the rest is left out.');
    const { text } = this.#decoded.of({ stream, bytes, leftOutBytes: 0 });
    return text === '' ? undefined : this.#take({ event: 'output', stream, text });
  }

  note(line: number, text: string): void {
    this.#take({ event: 'note', line, text });
  }

  failed(line: number, exitCode: number): void {
    this.#take({ event: 'failed', line, exit_code: exitCode });
  }
}
