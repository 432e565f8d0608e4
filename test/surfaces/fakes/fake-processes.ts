/** Processes of a sandbox in memory: what one prints, and when it ends, as a test says. */
import type { DetachedEnd, DetachedSink, DetachedSummary } from '../../../src/control/ports/index.ts';
import type { ProcessService } from '../../../src/control/work/processes.ts';
import { notFound } from '../../../src/model/errors.ts';

export interface FakeProcessView {
  process: string;
  from: number | null;
  sink: DetachedSink;
  signal: AbortSignal;
  end: PromiseWithResolvers<DetachedEnd>;
}

interface FakeProcesses {
  /** What `write`, `signal`, `resize` and `end` were called with. */
  calls: unknown[][];
}

const summary: DetachedSummary = {
  ...{ pid: 7, tag: 'web', label: 'make serve', startedAtMs: 1_700_000_000_123, terminal: null, viewers: 1 },
  ...{ outputBytes: 12, end: null },
};
const ended: DetachedSummary = {
  ...{ ...summary, pid: 8, tag: null, viewers: 0, terminal: { columns: 80, rows: 24 } },
  end: { exitCode: 137, signal: 'SIGKILL', timedOut: true, endedAtMs: 1_700_000_001_123 },
};

/** There is no process `nope`. Every view goes to `viewed`, which ends it. */
export function fakeProcesses(
  viewed: (view: FakeProcessView) => void = ({ sink, end }) => {
    sink.begun(0);
    end.resolve({ exitCode: 0, signal: null, timedOut: false });
  },
): Pick<ProcessService, 'start' | 'list' | 'view' | 'write' | 'signal' | 'resize' | 'end'> & FakeProcesses {
  const calls: unknown[][] = [];
  return {
    calls,
    start: async (_caller, _reference, { command, tag = null, terminal = null, ...request }) => {
      calls.push(['start', request]);
      return { ...summary, tag, label: command, terminal };
    },
    list: async () => [summary, ended],
    async view(_caller, _reference, { process, from }, sink, signal) {
      await Promise.resolve();
      if (process === 'nope') throw notFound('process', "There is no process 'nope'.");
      const end = Promise.withResolvers<DetachedEnd>();
      signal.addEventListener('abort', () => end.reject(signal.reason));
      viewed({ process, from, sink, signal, end });
      return end.promise;
    },
    write: async (_caller, _reference, { bytes, ...how }) =>
      void calls.push(['write', how, bytes.toString('hex')]),
    signal: async (_caller, _reference, process, name) => void calls.push(['signal', process, name]),
    resize: async (_caller, _reference, process, size) => void calls.push(['resize', process, size]),
    end: async (_caller, _reference, process) => void calls.push(['end', process]),
  };
}
