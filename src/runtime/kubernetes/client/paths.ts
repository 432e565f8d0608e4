/** Paths of the API's resources. */

export type Namespaced = 'pods' | 'persistentvolumeclaims' | 'secrets' | 'configmaps' | 'events';

export function inNamespace(namespace: string, resource: Namespaced, name?: string, part?: string): string {
  return join(`/api/v1/namespaces/${namespace}/${resource}`, name, part);
}

export function policyPath(namespace: string, name?: string): string {
  return join(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, name);
}

export function metricsPath(namespace: string, pod: string): string {
  return `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods/${pod}`;
}

export const nodesPath = '/api/v1/nodes';
export const storageClassesPath = '/apis/storage.k8s.io/v1/storageclasses';
export const serviceRangesPath = '/apis/networking.k8s.io/v1/servicecidrs';
export const accessReviewsPath = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

function join(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('/');
}
