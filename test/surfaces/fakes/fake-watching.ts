/** Watches of files in memory: what changes, and when the folder is gone, as a test says. */
import type { WatchRequest, WatchSink } from '../../../src/control/ports/index.ts';
import type { FileService } from '../../../src/control/work/files.ts';
import { notFound } from '../../../src/model/errors.ts';

export interface FakeWatch {
  request: WatchRequest;
  sink: WatchSink;
  signal: AbortSignal;
  end: PromiseWithResolvers<void>;
}

/** There is no folder `nope`. Every watch goes to `watched`, which ends it. */
export function fakeWatching(
  watched: (watch: FakeWatch) => void = ({ sink, end }) => {
    sink.begun();
    end.resolve();
  },
): FileService['watch'] {
  return async (_caller, _reference, request, sink, signal) => {
    await Promise.resolve();
    if (request.path === 'nope') throw notFound('file', "'nope' does not exist.");
    const end = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => end.reject(signal.reason));
    watched({ request, sink, signal, end });
    return end.promise;
  };
}
