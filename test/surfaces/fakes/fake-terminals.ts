/** A terminal in memory: what its program prints and reads, as a test says. */
import { PassThrough } from 'node:stream';
import type {
  ProcessEnd,
  TerminalSink,
  TerminalSize,
  TerminalView,
} from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import type { LookRequest } from '../../../src/control/work/terminals.ts';
import { notFound } from '../../../src/model/errors.ts';
import type { User } from '../../../src/model/user.ts';

export class FakeView implements TerminalView {
  readonly created = true;
  readonly createdAtMs = 1_700_000_000_123;
  readonly size: TerminalSize;
  readonly scrollbackBytes = 7;
  readonly input = new PassThrough({ highWaterMark: 65_536 });
  readonly request: LookRequest;
  readonly caller: User;
  readonly sizes: TerminalSize[] = [];
  detached = false;
  resumed = 0;
  sink: TerminalSink | null = null;
  readonly #end = Promise.withResolvers<ProcessEnd>();

  constructor(request: LookRequest, caller: User) {
    this.caller = caller;
    this.request = request;
    this.size = request.size ?? { columns: 80, rows: 24 };
    this.#end.promise.catch(() => {});
  }

  get ended(): Promise<ProcessEnd> {
    return this.#end.promise;
  }

  show(sink: TerminalSink): void {
    this.sink = sink;
  }

  resume(): void {
    this.resumed += 1;
  }

  resize(size: TerminalSize): void {
    this.sizes.push(size);
  }

  detach(): void {
    this.detached = true;
  }

  end(exitCode: number, signal: string | null = null): void {
    this.#end.resolve({ exitCode, signal });
  }

  fail(error: Error): void {
    this.#end.reject(error);
  }
}

/** There is no sandbox 'nope'. Every other look gives a view to `opened`. */
export function fakeTerminals(opened: (view: FakeView) => void): Pick<Services['terminals'], 'look'> {
  return {
    async look(caller, reference, request, work) {
      if (reference === 'nope') throw notFound('sandbox', "There is no sandbox 'nope'.");
      const view = new FakeView(request, caller);
      opened(view);
      await work(view).finally(() => view.detach());
    },
  };
}
