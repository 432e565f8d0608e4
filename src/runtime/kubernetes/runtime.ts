/**
 * Sandboxes as Pods of a Kubernetes, each with a claim: an implementation of the `Runtime` port. It keeps no essential
 * state: what is there is what the API server says, and a call can be repeated after a crash at any point of an earlier
 * one.
 */
import { OpenStreams } from '../../concurrency/closing.ts';
import type { Log, Runtime } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { RemotePlace } from '../archives/places.ts';
import type { ArchiveEncryption } from '../archives/protection.ts';
import { createArchives } from './archives/archives.ts';
import { createCarriers } from './archives/carriers.ts';
import { createClaims } from './archives/claims.ts';
import { createNotes } from './archives/notes.ts';
import type { Api } from './client/api.ts';
import type { AgentDoor, CarrierLink, KubernetesSettings, PlacedImage } from './client/settings.ts';
import { checkCluster } from './cluster-check.ts';
import { createCopies } from './machine/copies.ts';
import { createDisks } from './machine/disk.ts';
import { createLifecycle } from './machine/lifecycle.ts';
import { createPods } from './machine/pods.ts';
import { createResize } from './machine/resize.ts';
import { createSecrets } from './machine/secrets.ts';
import { createStart } from './machine/start.ts';
import { createSurvey } from './machine/survey.ts';
import { createTurns } from './machine/turns.ts';
import { applyPolicy, assertOpen } from './network-policy.ts';

export interface KubernetesRuntimeOptions {
  api: Api;
  settings: KubernetesSettings;
  door: AgentDoor;
  /** Returns where nodes get the image of this digest. */
  place(digest: string): Promise<PlacedImage>;
  /** Returns where nodes get the agent's image. */
  placeAgent(): Promise<PlacedImage>;
  carrierLink: CarrierLink;
  /** Place of archives, closed with the runtime; without one that is chosen nothing can be archived. */
  remoteArchives: RemotePlace | null;
  /** Key that signs archives. */
  installationKey: Buffer;
  encryption: ArchiveEncryption;
  /** Throws when another replica may have taken the work over. */
  assertTenure(): void;
  log: Log;
}

export function createKubernetesRuntime(options: KubernetesRuntimeOptions): Runtime {
  const { api, settings, door, place, placeAgent, carrierLink, installationKey, encryption, log } = options;
  const remote = options.remoteArchives;
  const copies = createCopies(api, settings, log);
  const turns = createTurns(log);
  const parts = { api, copies, settings, door, log };
  const pods = createPods(parts);
  const notes = createNotes(parts);
  const hasArchive = async (id: string, signal?: AbortSignal) => (await notes.read(id, signal)) !== null;
  const disks = createDisks({ ...parts, hasArchive });
  const secrets = createSecrets(parts);
  const start = createStart({ ...parts, pods, disks, secrets, place });
  const archives = createArchives({
    ...{ pods, notes, carrierLink, remote, installationKey, encryption, log },
    assertTenure: options.assertTenure,
    claims: createClaims({ ...parts, disks }),
    carriers: createCarriers({ ...parts, pods, secrets, placeAgent }),
  });
  const capabilities = {
    archive: remote?.chosen === true,
    ...{ liveResize: true, diskGrowth: false, network: true, networkPolicies: false, secrets: false },
  };
  const lifecycle = createLifecycle({
    ...{ copies, pods, disks, secrets, start, door, turns },
    resize: createResize(parts),
    growsDisks: () => capabilities.diskGrowth,
    removeArchive: archives.remove,
  });

  const channels = new OpenStreams();
  return {
    ...lifecycle,
    openChannel: async (id) => channels.keep(await lifecycle.openChannel(id)),
    ...createSurvey({ ...parts, readPod: (id) => pods.read(id) }),
    capabilities,

    async init() {
      const facts = await checkCluster(api, settings);
      capabilities.diskGrowth = facts.growsDisks;
      log.info('Kubernetes in use, with all permissions that are needed', { ...facts });
      await copies.begin();
      await applyPolicy(api, settings, copies.nodes.values());
    },

    archive: (id, generation, options) =>
      turns.inTurn(
        id,
        'The sandbox could not be archived.',
        (signal) => archives.write(id, generation, signal),
        options?.signal,
      ),
    restore: (spec, generation, record, options) =>
      turns.inTurn(
        spec.id,
        'The sandbox could not be restored.',
        (signal) => archives.restore(spec, generation, record, signal),
        options?.signal,
      ),
    dropDisk: (id) => turns.inTurn(id, 'The disk could not be removed.', () => archives.dropDisk(id)),
    dropArchive: (id) => turns.inTurn(id, 'The archive could not be removed.', () => archives.remove(id)),
    deviceEnvironment: () => ({}),
    // Nodes divide their processors by the sizes of Pods, not by owners.
    assign() {},
    setNetwork: async (_, policy) => assertOpen(policy),
    authority: () => null,
    pausedReason: () => null,

    async close() {
      channels.cut(new SandhavenError('unavailable', 'The service is stopping.'));
      await turns.close();
      copies.close();
      remote?.place.close();
    },
  };
}
