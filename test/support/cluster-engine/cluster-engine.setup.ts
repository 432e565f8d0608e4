/**
 * The cluster that the system tests of one run share, with PostgreSQL and S3 beside it: nodes, images and servers once,
 * and an installation with a database of its own for each service of a test (`service.ts`).
 */
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../cluster/cluster.ts';
import { postgresFor, s3For } from '../../cluster/companions/companions.ts';

import { forwardTo, pushAgent, pushBase } from '../../cluster/kubernetes/host.ts';
import { startPullDoor } from './pull-door.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    clusterEngine: ClusterEngine;
  }
}

export interface ClusterEngine {
  kubeconfig: string;
  /** Where sandboxes see the replicas come from. */
  clients: string;
  agentImage: string;
  baseImage: string;
  /** Of a user who may create databases. */
  postgres: string;
  s3: { endpoint: string; bucket: string; accessKeyId: string; secretAccessKey: string };
}

/** Sandboxes of the tests ask for more than this machine has, and use little of it. */
const HARDWARE = { processors: 64, memoryGiB: 256 };
const BUCKET = 'archives';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster({ nodes: 2, hardware: HARDWARE });
  try {
    const closePullDoor = await startPullDoor(cluster);
    cluster.onStop(closePullDoor);
    const registry = await forwardTo(cluster.registry);
    cluster.onStop(async () => void registry.close());
    const { port } = registry.address() as { port: number };
    // The service speaks plain HTTP with registries on its own machine alone, and so do the nodes, through the door.
    const here = (image: string) => image.replace(cluster.registry, `127.0.0.1:${port}`);
    const postgres = await postgresFor(cluster);
    const s3 = await s3For(cluster);
    await s3.makeBucket(BUCKET);
    const { accessKeyId, secretAccessKey } = s3.options.credentials;
    project.provide('clusterEngine', {
      kubeconfig: cluster.kubeconfig,
      clients: `${cluster.hostAddress}/32`,
      agentImage: here(pushAgent(cluster.registry)),
      baseImage: here(pushBase(cluster.registry)),
      postgres: await postgres.database(),
      s3: { endpoint: s3.options.endpoint, bucket: BUCKET, accessKeyId, secretAccessKey },
    });
    return () => cluster.stop();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
