/** Wires builds of snapshots from Dockerfiles, those that outlive their request, and archives that come before them. */
import { type BuildDependencies, BuildService } from '../../control/builds/build.ts';
import { DetachedBuilds } from '../../control/builds/detached.ts';
import { StepCache } from '../../control/builds/step-cache.ts';
import { Uploads } from '../../control/builds/uploads.ts';
import type { BuildStepStore, CapturedDisks } from '../../control/ports/index.ts';
import { spoolsIn } from '../../store/files/spools.ts';

export interface BuildParts extends Omit<BuildDependencies, 'cache' | 'openSpool' | 'parse'> {
  steps: BuildStepStore;
  dataDir: string;
}

export function wireBuilds({ steps, dataDir, ...parts }: BuildParts) {
  const cache = new StepCache({ ...parts, store: steps });
  const openSpool = spoolsIn(dataDir);
  const service = new BuildService({
    ...{ ...parts, cache, openSpool },
    // Loaded with the first build.
    parse: async (text) => (await import('../../dockerfile/parse.ts')).parseDockerfile(text),
  });
  return {
    services: {
      builds: service,
      detachedBuilds: new DetachedBuilds(parts.clock),
      uploads: new Uploads({ clock: parts.clock, openSpool }),
    },
    shrink: (disks: CapturedDisks) => cache.clear(disks),
  };
}
