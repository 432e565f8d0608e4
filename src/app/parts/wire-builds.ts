/** Wires builds of snapshots from Dockerfiles. */
import { type BuildDependencies, BuildService } from '../../control/builds/build.ts';
import { StepCache } from '../../control/builds/step-cache.ts';
import type { BuildStepStore, CapturedDisks } from '../../control/ports/index.ts';
import { spoolsIn } from '../../store/files/spools.ts';

export interface BuildParts extends Omit<BuildDependencies, 'cache' | 'openSpool' | 'parse'> {
  steps: BuildStepStore;
  dataDir: string;
}

export function wireBuilds({ steps, dataDir, ...parts }: BuildParts) {
  const cache = new StepCache({ ...parts, store: steps });
  const service = new BuildService({
    ...{ ...parts, cache },
    openSpool: spoolsIn(dataDir),
    // Loaded with the first build.
    parse: async (text) => (await import('../../dockerfile/parse.ts')).parseDockerfile(text),
  });
  return {
    service,
    shrink: (disks: CapturedDisks) => cache.clear(disks),
  };
}
