/** Starts etcd, the API server, the controller manager, the scheduler and a registry of images in a room. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianFolder, kubernetesFolder } from '../../../setup/cluster/folders.ts';
import type { Room } from '../rooms/room.ts';
import type { Slot } from '../rooms/slot.ts';
import type { Authority } from './identities.ts';
import { type Part, startPart } from './part.ts';

export interface ControlPlaneParts {
  etcd: Part;
  apiServer: Part;
  controllerManager: Part;
  scheduler: Part;
  registry: Part;
}

export interface ControlPlane {
  /** For users with all rights. */
  kubeconfig: string;
  server: string;
  /** host:port of the registry, which speaks plain HTTP. */
  registry: string;
  parts: ControlPlaneParts;
}

export interface ControlPlaneOptions {
  room: Room;
  slot: Slot;
  authority: Authority;
  folder: string;
  logFile(program: string): string;
}

const REGISTRY_PORT = 5000;

/**
 * A node that is silent for ten seconds is dead, instead of 50, and all its Pods are marked at once: tests wait for it.
 * Kubelets renew their leases each second (node.ts), so a busy machine can miss several.
 */
const DEAD_NODES_FLAGS = [
  '--node-monitor-period=1s',
  '--node-monitor-grace-period=10s',
  '--node-eviction-rate=10',
];

export function startControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { room, slot, authority, folder, logFile } = options;
  const address = slot.address(1);
  const server = `https://${address}:6443`;
  const program = (name: string) => join(kubernetesFolder, name);
  const start = (argv: string[]) => startPart(room, argv, logFile(argv[0]?.split('/').at(-1) ?? ''));
  const manager = authority.issue('manager', 'system:kube-controller-manager');
  const scheduler = authority.issue('scheduler', 'system:kube-scheduler');
  const registry = `${address}:${REGISTRY_PORT}`;
  const parts: ControlPlaneParts = {
    etcd: start([
      join(debianFolder, 'usr/bin/etcd'),
      `--data-dir=${join(folder, 'etcd')}`,
      '--listen-client-urls=http://127.0.0.1:2379',
      '--advertise-client-urls=http://127.0.0.1:2379',
      // Its records last as long as the cluster, and outlive a kill; a sync to the disk for each only takes time.
      '--unsafe-no-fsync',
    ]),
    apiServer: start([program('kube-apiserver'), ...apiServerFlags(options)]),
    controllerManager: start([
      program('kube-controller-manager'),
      `--kubeconfig=${authority.kubeconfig(server, manager)}`,
      `--service-account-private-key-file=${authority.serviceAccounts.privateFile}`,
      `--root-ca-file=${authority.caFile}`,
      '--use-service-account-credentials',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--cert-dir=${join(folder, 'manager')}`,
      ...DEAD_NODES_FLAGS,
    ]),
    scheduler: start([
      program('kube-scheduler'),
      `--kubeconfig=${authority.kubeconfig(server, scheduler)}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--cert-dir=${join(folder, 'scheduler')}`,
    ]),
    registry: start(['docker-registry', 'serve', registryConfig(folder, registry)]),
  };
  const admin = authority.issue('admin', 'admin', 'system:masters');
  return { kubeconfig: authority.kubeconfig(server, admin), server, registry, parts };
}

function apiServerFlags({ slot, authority }: ControlPlaneOptions): string[] {
  const address = slot.address(1);
  const firstService = slot.serviceRange.replace(/0\/24$/, '1');
  const names = [`IP:${address}`, `IP:${firstService}`, 'IP:127.0.0.1', 'DNS:kubernetes.default.svc'];
  const served = authority.issue('apiserver', 'kube-apiserver', undefined, names);
  const towardsKubelets = authority.issue('apiserver-kubelet', 'kube-apiserver', 'system:masters');
  const { privateFile, publicFile } = authority.serviceAccounts;
  return [
    '--etcd-servers=http://127.0.0.1:2379',
    `--advertise-address=${address}`,
    `--tls-cert-file=${served.certFile}`,
    `--tls-private-key-file=${served.keyFile}`,
    `--client-ca-file=${authority.caFile}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${publicFile}`,
    `--service-account-signing-key-file=${privateFile}`,
    `--service-cluster-ip-range=${slot.serviceRange}`,
    `--kubelet-client-certificate=${towardsKubelets.certFile}`,
    `--kubelet-client-key=${towardsKubelets.keyFile}`,
    `--kubelet-certificate-authority=${authority.caFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--allow-privileged',
  ];
}

function registryConfig(folder: string, address: string): string {
  const file = join(folder, 'registry.yml');
  const storage = join(folder, 'registry');
  mkdirSync(storage, { recursive: true });
  writeFileSync(
    file,
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${storage}}}\nhttp: {addr: '${address}'}\n`,
  );
  return file;
}
