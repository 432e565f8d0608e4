/** Builds in memory: each reads its context, and does what a test says. */
import { text } from 'node:stream/consumers';
import type { BuildRequest, BuildService } from '../../../src/control/builds/build.ts';
import { DetachedBuilds } from '../../../src/control/builds/detached.ts';
import type { BuildEvent } from '../../../src/control/builds/progress.ts';
import { Uploads } from '../../../src/control/builds/uploads.ts';
import { invalidArgument } from '../../../src/model/errors.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { readTar } from '../../../src/model/tar.ts';
import { memorySpools } from '../../control/builds/archives.ts';

export interface FakeBuild {
  request: BuildRequest;
  /** Texts of the files of its context. */
  files: Record<string, string>;
  say(event: BuildEvent): void;
  end: PromiseWithResolvers<Snapshot>;
}

/** Keys of these builds do not end. */
const identity = { whileValid: () => () => {} };

/** A build named `refused` is not prepared. */
export function fakeBuilds(builds: FakeBuild[]) {
  const service: Pick<BuildService, 'prepare'> = {
    async prepare(_caller, request, body, signal) {
      const files: FakeBuild['files'] = {};
      for await (const { entry, content } of readTar(body, 1 << 30)) files[entry.path] = await text(content);
      if (request.name === 'refused') throw invalidArgument('file', 'Line 1: there is no instruction NO.');
      const build: FakeBuild = { request, files, say() {}, end: Promise.withResolvers<Snapshot>() };
      build.end.promise.catch(() => {});
      signal.addEventListener('abort', () => build.end.reject(signal.reason));
      builds.push(build);
      return {
        run(take) {
          build.say = (event) => void take(event);
          return build.end.promise;
        },
        close: async () => {},
      };
    },
  };
  return {
    builds: service,
    detachedBuilds: new DetachedBuilds({ identity, clock: Date, log: { error() {} } }),
    uploads: new Uploads({ identity, clock: Date, openSpool: memorySpools().open }),
  };
}
