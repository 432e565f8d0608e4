/** Checks at the start: the API answers, is new enough, and permits what the service does; the storage class is there. */
import { SandhavenError } from '../../model/errors.ts';
import type { Api } from './client/api.ts';
import { ApiFailure, bounded } from './client/failure.ts';
import { accessReviewsPath, type StorageClass, storageClassesPath } from './client/objects.ts';
import type { KubernetesSettings } from './client/settings.ts';

/** User namespaces and resizing in place are on by default since 1.33, images as volumes since 1.35. */
const OLDEST_MINOR = 33;
const IMAGE_VOLUMES_MINOR = 35;

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

interface Access {
  group?: string;
  resource: string;
  subresource?: string;
  verbs: string[];
  /** Of the cluster, not of the namespace. */
  global?: boolean;
}

/** All that the service does; `Role` and `ClusterRole` of an installation grant exactly this. */
export const neededAccess: Access[] = [
  { resource: 'pods', verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { resource: 'pods', subresource: 'resize', verbs: ['patch'] },
  {
    resource: 'persistentvolumeclaims',
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { resource: 'secrets', verbs: ['list', 'watch', 'create', 'update', 'delete', 'deletecollection'] },
  { resource: 'configmaps', verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
  { resource: 'events', verbs: ['list'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: ['create', 'patch'] },
  { resource: 'nodes', verbs: ['list', 'watch'], global: true },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['list'], global: true },
];

export interface ClusterFacts {
  version: string;
  namespace: string;
  storageClass: string;
  /** The storage class lets claims grow. */
  growsDisks: boolean;
}

/** Rejects with `failed_precondition` that names everything that is missing. */
export async function checkCluster(
  api: Api,
  settings: Pick<KubernetesSettings, 'namespace' | 'storageClass'>,
): Promise<ClusterFacts> {
  const version = await versionOf(api);
  const missing = await missingAccess(api, settings.namespace);
  if (missing.length > 0) {
    throw failed(
      `Kubernetes does not permit the service to ${missing.join(', ')}.`,
      `Give its account a role with these permissions in the namespace ${settings.namespace}.`,
    );
  }
  const storage = await storageOf(api, settings.storageClass);
  return {
    version,
    namespace: settings.namespace,
    storageClass: storage.metadata.name,
    growsDisks: storage.allowVolumeExpansion === true,
  };
}

async function versionOf(api: Api): Promise<string> {
  const { major, minor, gitVersion } = await api
    .get<{ major: string; minor: string; gitVersion: string }>('/version')
    .catch((error: unknown) => {
      throw failed(
        `The API server ${api.server.host} does not answer: ${reasonOf(error)}.`,
        'Check the kubeconfig and the network.',
        error,
      );
    });
  const number = Number.parseInt(minor, 10);
  if (major === '1' && number < OLDEST_MINOR)
    throw failed(
      `Kubernetes ${gitVersion} is too old: 1.${OLDEST_MINOR} or later is needed.`,
      `From 1.${IMAGE_VOLUMES_MINOR} on no feature gate has to be set; before, ImageVolume does.`,
    );
  return gitVersion;
}

async function missingAccess(api: Api, namespace: string): Promise<string[]> {
  const wanted = neededAccess.flatMap(({ verbs, ...access }) => verbs.map((verb) => ({ ...access, verb })));
  const answers = await Promise.all(
    wanted.map(async ({ group = '', resource, subresource, verb, global = false }) => {
      const resourceAttributes = {
        ...{ group, resource, verb },
        ...(subresource === undefined ? {} : { subresource }),
        ...(global ? {} : { namespace }),
      };
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      };
      const { status } = await api.create<{ status?: { allowed?: boolean } }>(accessReviewsPath, body);
      const name = subresource === undefined ? resource : `${resource}/${subresource}`;
      return status?.allowed ? null : `${verb} ${name}`;
    }),
  );
  return answers.filter((answer) => answer !== null);
}

async function storageOf(api: Api, name: string | null): Promise<StorageClass> {
  const items: StorageClass[] = [];
  await api.list<StorageClass>(storageClassesPath, (page) => items.push(...page), {});
  const found = items.find(({ metadata }) =>
    name === null ? metadata.annotations?.[DEFAULT_CLASS] === 'true' : metadata.name === name,
  );
  if (found) return found;
  const names = items.map(({ metadata }) => metadata.name).join(', ') || 'none';
  throw failed(
    name === null ? 'The cluster has no default storage class.' : `There is no storage class ${name}.`,
    `Give one with --storage-class; the cluster has ${names}.`,
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiFailure) return bounded(`${error.status} ${error.message}`);
  return (error as NodeJS.ErrnoException).code ?? bounded(String((error as Error).message));
}

function failed(detail: string, hint: string, cause?: unknown): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { hint }, cause);
}
