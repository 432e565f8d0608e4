/** Gives the cluster its name server, behind the Service that it has everywhere: kube-dns in kube-system. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, ApiError, type KubeObject } from '../api.ts';
import { type Part, startPart } from '../parts/part.ts';
import type { PolicyPod } from '../policies/ruleset.ts';
import type { Room } from '../rooms/room.ts';
import type { Slot } from '../rooms/slot.ts';

const NAME = 'kube-dns';
const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': NAME };
const RANGE_TIMEOUT_MS = 30_000;
const PORTS = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];

export interface NameServerOptions {
  control: Room;
  slot: Slot;
  /** Of a user who may list Services and EndpointSlices. */
  kubeconfig: string;
  logFile(program: string): string;
}

/** Its Service's, by which Pods ask it. */
export function nameServiceAddress({ serviceRange }: Slot): string {
  return serviceRange.replace(/0\/24$/, '10');
}

/** It has an address of its own beside the control plane's, so that a policy can allow the one without the other. */
export function startNameServer({ control, slot, kubeconfig, logFile }: NameServerOptions): Part {
  const address = slot.address(2);
  control.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'nodes']);
  const main = join(import.meta.dirname, 'main.ts');
  return startPart(control, [process.execPath, main, kubeconfig, address], logFile(NAME));
}

/** As policies see it: as the Pod that it would be elsewhere. */
export function nameServerPod(slot: Slot): PolicyPod {
  const ports = PORTS.map(({ name, port, protocol }) => ({ name, containerPort: port, protocol }));
  return { namespace: NAMESPACE, labels: LABELS, address: slot.address(2), ports };
}

/** Leads the Service's address to it. */
export async function createNameService(api: Api, slot: Slot): Promise<void> {
  await createService(api, {
    metadata: { name: NAME, labels: LABELS },
    spec: { clusterIP: nameServiceAddress(slot), ports: PORTS },
  });
  await api.create(`/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, {
    metadata: { name: NAME, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: 'IPv4',
    ports: PORTS,
    endpoints: [{ addresses: [slot.address(2)], conditions: { ready: true } }],
  });
}

/** A young API server refuses any address until it has read its own range of them. */
async function createService(api: Api, service: KubeObject): Promise<void> {
  const deadline = Date.now() + RANGE_TIMEOUT_MS;
  for (;;) {
    try {
      return void (await api.create(`/api/v1/namespaces/${NAMESPACE}/services`, service));
    } catch (error) {
      const isEarly =
        error instanceof ApiError && error.status === 422 && /failed to allocate IP/.test(error.message);
      if (!isEarly || Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}
