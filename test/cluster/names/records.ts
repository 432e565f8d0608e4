/**
 * The names of Services and their addresses, by Kubernetes’ “DNS-Based Service Discovery”: A records of Services with a
 * cluster IP, and of headless ones and their endpoints with host names. No SRV, PTR or CNAME records.
 */
import type { KubeObject } from '../api.ts';

export const DOMAIN = 'cluster.local';

/** Addresses by name. Names that only lead to others, such as that of a namespace, have none. */
export type Records = Map<string, string[]>;

export function recordsOf(services: KubeObject[], slices: KubeObject[]): Records {
  const records: Records = new Map();
  const add = (name: string, addresses: string[]) => {
    records.set(name, [...(records.get(name) ?? []), ...addresses]);
  };
  for (const { metadata, spec } of services) {
    const name = `${metadata.name}.${metadata.namespace}.svc.${DOMAIN}`;
    if (spec.type === 'ExternalName') continue;
    if (spec.clusterIP !== 'None') {
      add(name, [spec.clusterIP]);
      continue;
    }
    add(name, []);
    for (const endpoint of endpointsOf(metadata, spec, slices)) {
      add(name, endpoint.addresses);
      if (endpoint.hostname) add(`${endpoint.hostname}.${name}`, endpoint.addresses);
    }
  }
  for (const name of [...records.keys()]) addParents(records, name);
  return records;
}

function endpointsOf({ name, namespace }: KubeObject, spec: KubeObject, slices: KubeObject[]): KubeObject[] {
  return slices
    .filter(
      ({ metadata, addressType }) =>
        metadata.namespace === namespace &&
        metadata.labels?.['kubernetes.io/service-name'] === name &&
        addressType === 'IPv4',
    )
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false || spec.publishNotReadyAddresses);
}

/** They exist, so a query for them finds no data, not no name. */
function addParents(records: Records, name: string): void {
  for (let at = name.indexOf('.'); at !== -1; at = name.indexOf('.', at + 1)) {
    const parent = name.slice(at + 1);
    if (!records.has(parent)) records.set(parent, []);
  }
}
