/** Wires snapshots and forks: their services, the work on their images, their changes, and the collector of images that none uses. */
import { type BuildDependencies, BuildService } from '../../control/builds/build.ts';
import { DetachedBuilds } from '../../control/builds/detached.ts';
import { StepCache } from '../../control/builds/step-cache.ts';
import { Uploads } from '../../control/builds/uploads.ts';
import type { IdentityService } from '../../control/callers/identity.ts';
import type { Quotas } from '../../control/callers/quotas.ts';
import { ImageCollector, type ImageCollectorDependencies } from '../../control/images/collector.ts';
import {
  type SandboxSnapshotDependencies,
  SandboxSnapshots,
} from '../../control/images/sandbox-snapshots.ts';
import { SnapshotWork, type SnapshotWorkDependencies } from '../../control/images/snapshot-work.ts';
import { type SnapshotDependencies, SnapshotService } from '../../control/images/snapshots.ts';
import { type CaptureDependencies, Captures, Rollbacks } from '../../control/lifecycle/capture.ts';
import { type ForkDependencies, Forks } from '../../control/lifecycle/forks.ts';
import { SnapshotEvents, type SnapshotEventsDependencies } from '../../control/live/snapshot-events.ts';
import type { BuildStepStore, CapturedDisks, Log, Runtime } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { spoolsIn } from '../../store/files/spools.ts';

type Dependencies = SnapshotDependencies &
  SandboxSnapshotDependencies &
  SnapshotWorkDependencies &
  SnapshotEventsDependencies &
  ImageCollectorDependencies;

interface SnapshotParts
  extends Omit<Dependencies, 'work' | 'events' | 'captures' | 'keptMs' | 'intervalMs' | 'onShort'>,
    Omit<CaptureDependencies, 'machines'>,
    Omit<BuildParts, keyof Dependencies | 'captures' | 'events' | 'snapshots' | 'regionId'> {
  runtime: Runtime;
  quotas: Quotas;
  machines: BuildParts['machines'] & CaptureDependencies['machines'];
  creation: BuildParts['creation'] & ForkDependencies['creation'];
  /** Retention of an image that no snapshot uses. */
  keptMinutes: number;
}

export function wireSnapshots({ keptMinutes, ...parts }: SnapshotParts) {
  const { store, sandboxes, machines, creation, quotas, log } = parts;
  const captures = new Captures(parts);
  const events = new SnapshotEvents(parts);
  const work = new SnapshotWork({ ...parts, events });
  const builds = wireBuilds({
    ...parts,
    snapshots: parts.store,
    captures,
    events,
    regionId: parts.identity.home.id,
  });
  const collector = new ImageCollector({
    ...{ ...parts, keptMs: keptMinutes * 60_000 },
    intervalMs: limits.image.collectIntervalMs,
    onShort: async () => {
      if (parts.runtime.captures) await builds.shrink(parts.runtime.captures);
    },
  });
  return {
    services: {
      snapshots: new SnapshotService({ ...parts, work, events }),
      sandboxSnapshots: new SandboxSnapshots({ ...parts, captures, events }),
      ...builds.services,
      forks: new Forks({ store: sandboxes, captures, creation, quotas, log }),
      rollbacks: new Rollbacks({ sandboxes, snapshots: store, captures, machines }),
      snapshotEvents: events,
    },
    work,
    collector,
  };
}

// Wires builds of snapshots from Dockerfiles, those that outlive their request, and archives that come before them.

export interface BuildParts extends Omit<BuildDependencies, 'cache' | 'openSpool' | 'parse'> {
  steps: BuildStepStore;
  identity: IdentityService;
  log: Log;
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
      detachedBuilds: new DetachedBuilds(parts),
      uploads: new Uploads({ ...parts, openSpool }),
    },
    shrink: (disks: CapturedDisks) => cache.clear(disks),
  };
}
