/** Files of another stage on their way out of its sandbox, which packs them; they are on no disk of the host in between. */
import { posix } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { readTar } from '../../model/tar.ts';
import type { Item } from './copy.ts';
import { copyFailed, type Program, type StageMachine } from './machine.ts';
import { atLine } from './words.ts';

export interface FoundInStage {
  path: string;
  isFolder: boolean;
}

/** Finds what sources mean in another stage by its own shell, which is its owner's. Each is a pattern from the root. */
export async function foundInStage(
  machine: StageMachine,
  sources: readonly string[],
  line: number,
): Promise<FoundInStage[]> {
  const script = `IFS=; for p in $1; do if [ -d "$p" ]; then printf 'd%s\\n' "$p"; elif [ -e "$p" ]; then printf 'f%s\\n' "$p"; fi; done`;
  const found: FoundInStage[] = [];
  for (const source of sources) {
    const argv = ['sh', '-c', script, 'sh', posix.resolve('/', source)];
    const lines = (await machine.text({ argv }, line)).split('\n').filter((one) => one !== '');
    if (lines.length === 0)
      throw atLine(line, `'${source}' is not in that stage.`, 'Its path is from the root of the stage.');
    found.push(...lines.map((one) => ({ path: one.slice(1), isFolder: one.startsWith('d') })));
  }
  return found;
}

/** Yields files of another stage as its sandbox packs them: a folder's content, a file itself. */
export async function* itemsOfStage(
  machine: StageMachine,
  found: readonly FoundInStage[],
  line: number,
): AsyncGenerator<Item> {
  const { copiedBytes, copiedEntries } = limits.build;
  let bytes = 0;
  let entries = 0;
  for (const { path, isFolder } of found) {
    const argv = isFolder
      ? ['tar', '-cf', '-', '-C', path, '.']
      : ['tar', '-chf', '-', '-C', posix.dirname(path), '--', posix.basename(path)];
    for await (const item of streamOf(machine, { argv }, line)) {
      entries += 1;
      bytes += item.entry.size;
      if (bytes > copiedBytes || entries > copiedEntries)
        throw new SandhavenError(
          'too_large',
          `Line ${line} copies more than ${copiedBytes} bytes, or ${copiedEntries} files.`,
        );
      yield item;
    }
  }
}

/** Yields the entries of a tar that a helper packs, while it packs them. */
async function* streamOf(machine: StageMachine, program: Program, line: number): AsyncGenerator<Item> {
  const channel = new Handover<Buffer>();
  const packed = machine
    .help(program, (output) => channel.take(output), copyFailed(line))
    .then(
      () => channel.end(),
      (error: unknown) => channel.end(error),
    );
  try {
    for await (const { entry, content } of readTar(channel, 2 * limits.build.copiedBytes)) {
      const path = entry.path.replace(/^\.\/?/, '');
      if (path === '' || path.split('/').includes('..')) continue;
      yield {
        entry: {
          ...entry,
          path,
          target: entry.type === 'hardlink' ? entry.target.replace(/^\.\//, '') : entry.target,
        },
        content,
      };
    }
  } finally {
    channel.leave();
    await packed;
  }
}

/** Hands pieces of one stream to a reader elsewhere, one at a time. */
class Handover<T> implements AsyncIterable<T> {
  #piece: { value: T; taken: () => void } | null = null;
  #wake: () => void = () => {};
  #isOver = false;
  #error: unknown = null;
  #isLeft = false;

  async take(source: AsyncIterable<T>): Promise<void> {
    for await (const value of source) {
      if (this.#isLeft) return;
      await new Promise<void>((taken) => {
        this.#piece = { value, taken };
        this.#wake();
      });
    }
  }

  end(error: unknown = null): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  /** The reader wants no more. */
  leave(): void {
    this.#isLeft = true;
    this.#piece?.taken();
    this.#piece = null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      if (this.#piece) {
        const { value, taken } = this.#piece;
        this.#piece = null;
        try {
          yield value;
        } finally {
          taken();
        }
      } else if (this.#isOver) {
        if (this.#error) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
