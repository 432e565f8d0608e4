/** Starts containerd, the kubelet and kube-proxy in a room, which is a node of the cluster. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianFolder, kubernetesFolder, runcFolder } from '../../setup/cluster/folders.ts';
import { DOMAIN } from './names/records.ts';
import { nameServiceAddress } from './names/serve.ts';
import { HARDWARE_SHOWN, type Hardware, writeHardware } from './parts/hardware.ts';
import type { Authority } from './parts/identities.ts';
import { type Part, startPart } from './parts/part.ts';
import type { Room } from './rooms/room.ts';
import type { Slot } from './rooms/slot.ts';
import { mountDisks } from './storage/disks.ts';

export interface Node {
  name: string;
  address: string;
  /** Addresses of its Pods. */
  podRange: string;
  /** Another one after each start of the node. */
  room: Room;
  /** Its files; `lib` in it is the room's /var/lib. */
  folder: string;
}

export interface NodeParts {
  containerd: Part;
  kubelet: Part;
  proxy: Part;
}

export interface NodeOptions {
  node: Node;
  slot: Slot;
  authority: Authority;
  server: string;
  registry: string;
  /** Shown to Kubernetes in place of the machine's own. */
  hardware: Hardware | null;
  logFile(program: string): string;
}

const SOCKET = '/run/containerd/containerd.sock';
const CONFIG = '/var/lib/config';

/** The kubelet sets these for the whole host; it gets files of its own to read them from. */
const KERNEL_SETTINGS = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** The room gets folders of its own where these programs have theirs. */
const OWN_FOLDERS = `
set -e
mount --bind "$1/lib" /var/lib
mount --bind "$1/log" /var/log
mount -t tmpfs -o mode=755 tmpfs /run
sysctl -q -w net.ipv4.ip_forward=1
`;

/**
 * /proc is made private first: over a proc that is covered in part, no container could mount its own.
 * A kubelet without containerd ends after a moment, and elsewhere a supervisor starts it again.
 */
const KERNEL_SETTINGS_SHOWN = `
mount --make-private /proc
cd ${CONFIG}/sys
find . -type f | while read -r file; do mount --bind "$file" "/proc/sys/$file"; done
cd /
hardware=${CONFIG}/hardware
${HARDWARE_SHOWN}
until [ -S ${SOCKET} ]; do sleep 0.05; done
exec "$@"
`;

/** Starts the programs of a node in its room, which is linked to the others. */
export function startNode(options: NodeOptions): NodeParts {
  const { node, logFile } = options;
  const { room, folder } = node;
  for (const name of ['lib/kubelet', 'lib/config/cni', 'log']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  writeConfiguration(options);
  room.run(['sh', '-c', OWN_FOLDERS, 'sh', folder]);
  mountDisks(node);
  const start = (name: string, argv: string[]) => startPart(room, argv, logFile(`${node.name}-${name}`));
  const path = [join(debianFolder, 'usr/bin'), '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(':');
  return {
    containerd: start('containerd', [
      ...['env', `PATH=${path}`],
      ...['containerd', '--config', `${CONFIG}/containerd.toml`],
    ]),
    kubelet: start('kubelet', [
      ...['unshare', '--mount', '--propagation', 'unchanged', 'sh', '-c', KERNEL_SETTINGS_SHOWN, 'sh'],
      join(kubernetesFolder, 'kubelet'),
      `--config=${CONFIG}/kubelet.json`,
      `--kubeconfig=${kubeconfigOf(options)}`,
      `--hostname-override=${node.name}`,
      `--node-ip=${node.address}`,
    ]),
    proxy: start('kube-proxy', [join(kubernetesFolder, 'kube-proxy'), ...proxyFlags(options)]),
  };
}

function writeConfiguration(options: NodeOptions): void {
  const { node, registry, hardware } = options;
  const put = (name: string, text: string) => {
    const file = join(node.folder, 'lib/config', name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  };
  put('containerd.toml', containerdConfig(registry));
  put(`registries/${registry}/hosts.toml`, `server = "http://${registry}"\n`);
  put('cni/pods.conflist', JSON.stringify(networkConfig(node)));
  put('kubelet.json', JSON.stringify(kubeletConfig(options)));
  put('resolv.conf', '');
  for (const [name, value] of Object.entries(KERNEL_SETTINGS)) put(`sys/${name}`, `${value}\n`);
  if (hardware) writeHardware(join(node.folder, 'lib/config/hardware'), hardware);
}

function containerdConfig(registry: string): string {
  const ownRunc = join(runcFolder, 'runc');
  return `version = 3
[grpc]
  address = "${SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd-opt"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "${registry}/pause:1"
[plugins."io.containerd.cri.v1.images".registry]
  config_path = "${CONFIG}/registries"
[plugins."io.containerd.cri.v1.runtime"]
  # Lowering it takes CAP_SYS_RESOURCE, which containers often lack.
  restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["${join(debianFolder, 'usr/lib/cni')}"]
  conf_dir = "${CONFIG}/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = "${existsSync(ownRunc) ? ownRunc : '/usr/sbin/runc'}"
`;
}

/** Each Pod's link leads to the node alone, so all that it sends is forwarded, where policies can see it. */
function networkConfig({ podRange }: Node): object {
  const addresses = {
    type: 'host-local',
    dataDir: '/run/pod-addresses',
    ranges: [[{ subnet: podRange }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  return { cniVersion: '1.0.0', name: 'pods', plugins: [{ type: 'ptp', ipam: addresses }] };
}

function kubeletConfig({ node, slot, authority }: NodeOptions): object {
  const served = authority.issue(`${node.name}-server`, node.name, undefined, [`IP:${node.address}`]);
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: node.address,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: authority.caFile } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: served.certFile,
    tlsPrivateKeyFile: served.keyFile,
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: slot.makeCgroup(node.name),
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    makeIPTablesUtilChains: false,
    clusterDNS: [nameServiceAddress(slot)],
    clusterDomain: DOMAIN,
    resolvConf: `${CONFIG}/resolv.conf`,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    // The host's disk is others' too; how full it is must not evict Pods of a test.
    evictionHard: { 'memory.available': '100Mi' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    serializeImagePulls: false,
    registryPullQPS: 0,
    // A lease is renewed four times in its life: each second, so that a dead node is soon known.
    nodeLeaseDurationSeconds: 4,
    nodeStatusUpdateFrequency: '1s',
    // As docs/kubernetes.md asks for: Pods have no limit of their own, and a fork bomb would take the node.
    podPidsLimit: 1_024,
    kubeAPIQPS: 100,
    kubeAPIBurst: 200,
  };
}

function kubeconfigOf({ node, authority, server }: NodeOptions): string {
  const identity = authority.issue(node.name, `system:node:${node.name}`, 'system:nodes');
  return authority.kubeconfig(server, identity);
}

function proxyFlags({ node, authority, server }: NodeOptions): string[] {
  const identity = authority.issue(`${node.name}-proxy`, 'system:kube-proxy');
  return [
    `--kubeconfig=${authority.kubeconfig(server, identity)}`,
    `--hostname-override=${node.name}`,
    '--proxy-mode=nftables',
    // Zero leaves the settings of the host's kernel alone.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
  ];
}
