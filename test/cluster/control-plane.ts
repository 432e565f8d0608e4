/** Starts etcd, the API server, the controller manager, the scheduler and a registry of images in a room. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianFolder, kubernetesFolder } from '../../setup/cluster/folders.ts';
import type { Authority } from './identities.ts';
import type { Room } from './room.ts';
import type { Slot } from './slot.ts';

export interface ControlPlane {
  /** For users with all rights. */
  kubeconfig: string;
  server: string;
  /** host:port of the registry, which speaks plain HTTP. */
  registry: string;
}

export interface ControlPlaneOptions {
  room: Room;
  slot: Slot;
  authority: Authority;
  folder: string;
  logFile(program: string): string;
}

const REGISTRY_PORT = 5000;

export function startControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { room, slot, authority, folder, logFile } = options;
  const address = slot.address(1);
  const server = `https://${address}:6443`;
  const program = (name: string) => join(kubernetesFolder, name);
  const start = (argv: string[]) => room.start(argv, logFile(argv[0]?.split('/').at(-1) ?? ''));

  start([
    join(debianFolder, 'usr/bin/etcd'),
    `--data-dir=${join(folder, 'etcd')}`,
    '--listen-client-urls=http://127.0.0.1:2379',
    '--advertise-client-urls=http://127.0.0.1:2379',
    // Its records last as long as the cluster; a sync to the disk for each only takes time.
    '--unsafe-no-fsync',
  ]);
  start([program('kube-apiserver'), ...apiServerFlags(options)]);
  const manager = authority.issue('manager', 'system:kube-controller-manager');
  const { privateFile } = authority.serviceAccounts;
  start([
    program('kube-controller-manager'),
    `--kubeconfig=${authority.kubeconfig(server, manager)}`,
    `--service-account-private-key-file=${privateFile}`,
    `--root-ca-file=${authority.caFile}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, 'manager')}`,
  ]);
  const scheduler = authority.issue('scheduler', 'system:kube-scheduler');
  start([
    program('kube-scheduler'),
    `--kubeconfig=${authority.kubeconfig(server, scheduler)}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, 'scheduler')}`,
  ]);
  const registry = `${address}:${REGISTRY_PORT}`;
  start(['docker-registry', 'serve', registryConfig(folder, registry)]);
  const admin = authority.issue('admin', 'admin', 'system:masters');
  return { kubeconfig: authority.kubeconfig(server, admin), server, registry };
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
