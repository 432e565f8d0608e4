/**
 * A real Kubernetes for tests: etcd, API server with RBAC and admission, controller manager, scheduler, and nodes with
 * containerd, kubelet and kube-proxy, each in namespaces of its own; a registry, disks for claims, and NetworkPolicies
 * that are enforced. `make test-deep PART=cluster` and `make cluster` build its programs.
 *
 * Everything that runs ends with this process, also when it is killed; the next start on this machine removes the folder
 * and cgroups of a killed one.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { debianFolder, kubernetesFolder } from '../../setup/cluster/folders.ts';
import { type Api, connectApi } from './api.ts';
import { pushPause } from './images.ts';
import { createNameService, nameServerPod, startNameServer } from './names/serve.ts';
import type { Node } from './node.ts';
import { type ControlPlaneParts, startControlPlane } from './parts/control-plane.ts';
import type { Hardware } from './parts/hardware.ts';
import { createAuthority } from './parts/identities.ts';
import { type Machine, startMachine } from './parts/machine.ts';
import type { Part } from './parts/part.ts';
import { enforcePolicies } from './policies/enforce.ts';
import { HOST, linkRooms } from './rooms/links.ts';
import { openRoom, type Room } from './rooms/room.ts';
import { type Slot, takeSlot } from './rooms/slot.ts';
import { provideVolumes } from './volumes.ts';

export interface ClusterOptions {
  nodes?: number;
  /** Of each node, as Kubernetes sees it; by default the machine's own. */
  hardware?: Hardware | null;
}

export interface Cluster {
  /** Path of a file for users with all rights. */
  kubeconfig: string;
  api: Api;
  /** host:port of the registry, without accounts or TLS; reachable from the host and from the nodes. */
  registry: string;
  nodes: Machine[];
  /** The control plane's programs, each to kill and start alone. */
  parts: ControlPlaneParts & { nameServer: Part };
  /** The host's address in the network of the nodes, where Pods reach it. */
  hostAddress: string;
  /** Calls back in `stop`, before the programs end. */
  onStop(end: () => Promise<void>): void;
  /** The last lines that each program wrote, for a test that failed. */
  logs(): string;
  /** Ends all programs and removes all traces; safe to call twice. */
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const LINES_SHOWN = 25;

/** Rejects, with the programs' last lines, when the nodes are not ready within a minute. Needs root. */
export async function startCluster({
  nodes: count = 1,
  hardware = null,
}: ClusterOptions = {}): Promise<Cluster> {
  for (const folder of [kubernetesFolder, debianFolder]) {
    if (!existsSync(folder)) throw new Error(`${folder} is missing; make test-deep PART=cluster builds it`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-cluster-'));
  const slot = await takeSlot(folder);
  const rooms: Room[] = [];
  const atStop: (() => Promise<void>)[] = [];
  const ending = new AbortController();
  let api: Api | null = null;
  let stopping: Promise<void> | null = null;
  const stop = () => {
    stopping ??= (async () => {
      ending.abort();
      await Promise.allSettled(atStop.map((end) => end()));
      api?.close();
      await Promise.all(rooms.map((room) => room.end()));
      removeLink(slot);
      await slot.free();
    })();
    return stopping;
  };
  try {
    const parts = await startParts(folder, slot, { count, hardware }, rooms);
    api = connectApi(parts.kubeconfig);
    await pushWhenReady(parts.registry);
    await makeReady(api, slot, parts.nodes, ending.signal);
    const onStop = (end: () => Promise<void>) => void atStop.push(end);
    const logs = () => lastLines(folder);
    return { ...parts, api, hostAddress: slot.address(HOST), onStop, logs, stop };
  } catch (error) {
    const said = lastLines(folder);
    await stop();
    throw new Error(`the cluster does not start\n${said}`, { cause: error });
  }
}

async function startParts(
  folder: string,
  slot: Slot,
  { count, hardware }: { count: number; hardware: Hardware | null },
  rooms: Room[],
) {
  const open = async () => {
    const room = await openRoom();
    rooms.push(room);
    return room;
  };
  const control = await open();
  const nodes: Node[] = [];
  for (let number = 1; number <= count; number++) {
    nodes.push({
      name: `node${number}`,
      address: slot.address(10 + number),
      podRange: slot.podRange(number),
      room: await open(),
      folder: join(folder, `node${number}`),
    });
  }
  linkRooms(slot, control, nodes);
  mkdirSync(join(folder, 'logs'));
  const logFile = (program: string) => join(folder, 'logs', `${program}.log`);
  const authority = createAuthority(join(folder, 'identities'));
  const plane = startControlPlane({ room: control, slot, authority, folder, logFile });
  const { server, registry, kubeconfig } = plane;
  const common = { slot, authority, server, registry, hardware, logFile, control, nodes, openRoom: open };
  const machines = nodes.map((node) => startMachine({ node, ...common }));
  const nameServer = startNameServer({ control, slot, kubeconfig, logFile });
  return { kubeconfig, registry, nodes: machines, parts: { ...plane.parts, nameServer } };
}

async function pushWhenReady(registry: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await fetch(`http://${registry}/v2/`).catch(() => null))?.ok) {
    if (Date.now() > deadline) throw new Error('the registry does not answer');
    await delay(50);
  }
  pushPause(registry);
}

async function makeReady(api: Api, slot: Slot, nodes: Machine[], signal: AbortSignal): Promise<void> {
  await api.until('/api/v1/namespaces/default', ({ kind }) => kind === 'Namespace', READY_TIMEOUT_MS);
  const failed = (error: unknown) => console.error(error);
  const loadPolicies = enforcePolicies(api, nodes, signal, failed, [nameServerPod(slot)]);
  const provideAgain = await provideVolumes(api, nodes, signal, failed);
  await createNameService(api, slot);
  for (const node of nodes) {
    node.onStart(() => {
      loadPolicies();
      provideAgain();
    });
  }
  for (const { name } of nodes) {
    const isReady = ({ status }: { status?: { conditions?: { type: string; status: string }[] } }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
    await api.until(`/api/v1/nodes/${name}`, isReady, READY_TIMEOUT_MS);
  }
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await api.until(account, ({ kind }) => kind === 'ServiceAccount', READY_TIMEOUT_MS);
}

/** The kernel removes it with the rooms, a moment later. */
function removeLink({ name }: Slot): void {
  try {
    execFileSync('ip', ['link', 'delete', name], { stdio: 'pipe' });
  } catch {
    // It was removed already.
  }
}

function lastLines(folder: string): string {
  const logs = join(folder, 'logs');
  if (!existsSync(logs)) return '';
  return readdirSync(logs)
    .map((file) => {
      const lines = readFileSync(join(logs, file), 'utf8').trimEnd().split('\n');
      return `== ${file}\n${lines.slice(-LINES_SHOWN).join('\n')}`;
    })
    .join('\n');
}
