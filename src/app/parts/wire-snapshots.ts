/** Wires snapshots: their service, the work on their images, their changes, and the collector of images that none uses. */
import { ImageCollector, type ImageCollectorDependencies } from '../../control/images/collector.ts';
import {
  type SandboxSnapshotDependencies,
  SandboxSnapshots,
} from '../../control/images/sandbox-snapshots.ts';
import { SnapshotWork, type SnapshotWorkDependencies } from '../../control/images/snapshot-work.ts';
import { type SnapshotDependencies, SnapshotService } from '../../control/images/snapshots.ts';
import { SnapshotEvents, type SnapshotEventsDependencies } from '../../control/live/snapshot-events.ts';
import { limits } from '../../model/limits.ts';

type Dependencies = SnapshotDependencies &
  SandboxSnapshotDependencies &
  SnapshotWorkDependencies &
  SnapshotEventsDependencies &
  ImageCollectorDependencies;

interface SnapshotParts extends Omit<Dependencies, 'work' | 'events' | 'keptMs' | 'intervalMs'> {
  /** Retention of an image that no snapshot uses. */
  keptMinutes: number;
}

export function wireSnapshots({ keptMinutes, ...parts }: SnapshotParts) {
  const events = new SnapshotEvents(parts);
  const work = new SnapshotWork({ ...parts, events });
  const collector = new ImageCollector({
    ...{ ...parts, keptMs: keptMinutes * 60_000 },
    intervalMs: limits.image.collectIntervalMs,
  });
  return {
    services: {
      snapshots: new SnapshotService({ ...parts, work, events }),
      sandboxSnapshots: new SandboxSnapshots({ ...parts, events }),
      snapshotEvents: events,
    },
    work,
    collector,
  };
}
