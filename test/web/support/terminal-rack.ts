/** Terminals in memory behind the port of the real ones: they keep what they print, and a test is the program in them. */
import { PassThrough } from 'node:stream';
import type {
  ProcessEnd,
  TerminalSink,
  TerminalSize,
  TerminalSummary,
  TerminalView,
} from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import { notFound } from '../../../src/model/errors.ts';

const KEPT_BYTES = 256 * 1024;

interface Look {
  sink: TerminalSink;
  /** Breaks the connection, and not the terminal. */
  lose(error: Error): void;
  resumed(): void;
}

export class RackTerminal {
  readonly id: string;
  /** Who it was opened as; undefined for the sandbox's user. */
  readonly user: string | undefined;
  size: TerminalSize;
  program = 'bash';
  busy = false;
  /** All that was typed, and all answers. */
  typed = '';
  readonly looks = new Set<Look>();
  #kept = Buffer.alloc(0);
  readonly #end = Promise.withResolvers<ProcessEnd>();

  constructor(id: string, size: TerminalSize | null, user?: string) {
    this.id = id;
    this.user = user;
    this.size = size ?? { columns: 80, rows: 24 };
  }

  get ended(): Promise<ProcessEnd> {
    return this.#end.promise;
  }

  /** Prints at once, whatever viewers can take. Returns false when one of them can take no more. */
  print(text: string | Buffer): boolean {
    const bytes = Buffer.from(text as string);
    this.#kept = Buffer.concat([this.#kept, bytes]).subarray(-KEPT_BYTES);
    return [...this.looks].map(({ sink }) => sink.data(bytes)).every(Boolean);
  }

  /** Prints as fast as the viewer takes it. */
  async pour(piece: Buffer, count: number): Promise<void> {
    const [look] = this.looks;
    for (let printed = 0; printed < count; printed++) {
      if (this.print(piece) || !look) continue;
      await new Promise<void>((resolve) => {
        look.resumed = resolve;
      });
    }
  }

  exit(exitCode: number): void {
    this.#end.resolve({ exitCode, signal: null });
  }

  view(size: TerminalSize | null, created: boolean): TerminalView {
    if (size) this.#resize(size);
    const input = new PassThrough();
    input.on('data', (bytes: Buffer) => {
      this.typed += bytes.toString('latin1');
    });
    const lost = Promise.withResolvers<ProcessEnd>();
    lost.promise.catch(() => {});
    const kept = this.#kept;
    let look: Look | null = null;
    return {
      ...{ created, createdAtMs: 0, size: this.size, input, scrollbackBytes: kept.length },
      ended: Promise.race([this.ended, lost.promise]),
      show: (sink) => {
        look = { sink, lose: lost.reject, resumed() {} };
        this.looks.add(look);
        if (kept.length > 0) sink.data(kept);
      },
      resume: () => look?.resumed(),
      resize: (next) => this.#resize(next),
      detach: () => {
        if (look) this.looks.delete(look);
      },
    };
  }

  summary(): TerminalSummary {
    const { id, size, program, busy } = this;
    return { terminalId: id, createdAtMs: 0, size, viewers: this.looks.size, program, busy };
  }

  #resize(size: TerminalSize): void {
    this.size = size;
    for (const { sink } of this.looks) sink.resized(size);
  }
}

/** The terminals of all sandboxes, for tests that look at one. */
export class TerminalRack {
  readonly terminals = new Map<string, RackTerminal>();

  /** The terminal of this id, which has to be there. */
  of(id: string): RackTerminal {
    const found = this.terminals.get(id);
    if (!found) throw new Error(`no terminal ${id}`);
    return found;
  }

  service(): Pick<Services['terminals'], 'look' | 'list' | 'end'> {
    return {
      look: async (_caller, _reference, { terminalId, size, create, user }, work) => {
        const isThere = this.terminals.has(terminalId);
        if (!isThere && !create) throw notFound('terminal', `There is no terminal '${terminalId}'.`);
        if (!isThere) this.#add(new RackTerminal(terminalId, size, user ?? undefined));
        const view = this.of(terminalId).view(size, !isThere);
        await work(view).finally(() => view.detach());
      },
      list: async () => [...this.terminals.values()].map((terminal) => terminal.summary()),
      end: async (_caller, _reference, id) => this.of(id).exit(129),
    };
  }

  #add(terminal: RackTerminal): void {
    this.terminals.set(terminal.id, terminal);
    void terminal.ended.then(() => this.terminals.delete(terminal.id));
  }
}
