/**
 * Sandboxes as Pods of a Kubernetes, each with a claim: an implementation of the `Runtime` port. It keeps no essential
 * state: what is there is what the API server says, and a call can be repeated after a crash at any point of an earlier
 * one.
 */
import type { Log, Runtime } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Api } from './client/api.ts';
import { checkCluster } from './cluster/check.ts';
import { applyPolicy } from './cluster/policy.ts';
import { createCopies } from './machine/copies.ts';
import { createDisks } from './machine/disk.ts';
import { createLifecycle } from './machine/lifecycle.ts';
import { createPods } from './machine/pods.ts';
import { createResize } from './machine/resize.ts';
import { createSecrets } from './machine/secrets.ts';
import { createStart } from './machine/start.ts';
import { createSurvey } from './machine/survey.ts';
import { createTurns } from './machine/turns.ts';
import type { AgentDoor, KubernetesSettings, PlacedImage } from './settings.ts';

export interface KubernetesRuntimeOptions {
  api: Api;
  settings: KubernetesSettings;
  door: AgentDoor;
  /** Returns where nodes get the image of this digest. */
  place(digest: string): Promise<PlacedImage>;
  log: Log;
}

export function createKubernetesRuntime(options: KubernetesRuntimeOptions): Runtime {
  const { api, settings, door, place, log } = options;
  const copies = createCopies(api, settings, log);
  const turns = createTurns(log);
  const parts = { api, copies, settings, door, log };
  const pods = createPods(parts);
  const disks = createDisks(parts);
  const secrets = createSecrets(parts);
  const start = createStart({ ...parts, pods, disks, secrets, place });
  const capabilities = { archive: false, liveResize: true, diskGrowth: false, network: true };
  const lifecycle = createLifecycle({
    ...{ copies, pods, disks, secrets, start, door, turns },
    resize: createResize(parts),
    growsDisks: () => capabilities.diskGrowth,
  });

  return {
    ...lifecycle,
    ...createSurvey(parts),
    capabilities,

    async init() {
      const facts = await checkCluster(api, settings);
      capabilities.diskGrowth = facts.growsDisks;
      log.info('Kubernetes in use, with all permissions that are needed', { ...facts });
      await copies.begin();
      await applyPolicy(api, settings, copies.nodes.values());
    },

    archive: async () => noArchives(),
    restore: async () => noArchives(),
    dropDisk: async () => noArchives(),
    // There is none to remove.
    dropArchive: async () => {},
    deviceEnvironment: () => ({}),
    // Nodes divide their processors by the sizes of Pods, not by owners.
    assign() {},
    pausedReason: () => null,

    async close() {
      await turns.close();
      copies.close();
    },
  };
}

function noArchives(): never {
  throw new SandhavenError('failed_precondition', 'Sandboxes on Kubernetes cannot be archived.', {
    hint: 'Stop the sandbox instead: its disk stays.',
  });
}
