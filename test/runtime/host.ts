/** What the suites of this folder need of the host: a runtime over folders of its own, and a look at its traces. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATIVE } from '../../src/app/engine/installed.ts';
import { chooseRuntime, tryDeviceRules } from '../../src/app/engine/machine-runtime.ts';
import type { Runtime } from '../../src/control/ports/index.ts';
import { randomText } from '../../src/model/ids.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { createOwners } from '../../src/runtime/oci/fairness/owners.ts';
import { type Hierarchy, memoryHierarchy, parseHierarchies } from '../../src/runtime/oci/host/hierarchies.ts';
import { type MachineRuntime, refusalOfDirect } from '../../src/runtime/oci/machine/machine-runtime.ts';
import { createOciRuntime, type OciRuntime, type OciRuntimeOptions } from '../../src/runtime/oci/runtime.ts';
import { testEncryption } from '../archives/test-encryption.ts';
import { quietTime } from '../support/host.ts';
import { createTestSlots } from './test-slots.ts';

export const launcherPath = join(NATIVE, 'sandhaven-launcher');

/** Folders and names of one instance; several runtimes may be made over it, one after another. */
export interface Instance {
  instanceId: string;
  dataDir: string;
  runDir: string;
  installationKey: Buffer;
}

export function createInstance(): Instance {
  const instanceId = randomText(6);
  return {
    instanceId,
    dataDir: mkdtempSync(join(tmpdir(), 'sandhaven-runtime-')),
    runDir: `/run/sandhaven-${instanceId}`,
    installationKey: randomBytes(32),
  };
}

export function runtimeOver(instance: Instance, changes: Partial<OciRuntimeOptions> = {}): OciRuntime {
  return createOciRuntime({
    ...instance,
    encryption: testEncryption({ encrypts: false }),
    authorityKey: Buffer.alloc(32, 1),
    machineRuntime: testRuntime(),
    launcherPath,
    agentPath: new URL('test-agent.py', import.meta.url).pathname,
    gpuKind: { kind: 'example.com/gpu', names: null },
    cdiFolders: [],
    slots: createTestSlots(slotsFolder(instance)),
    owners: createOwners(),
    rootfsPath: () => join(defaultCacheDir(), 'base/current/rootfs'),
    log: { info() {}, warn: console.warn, error() {} },
    ...changes,
  });
}

export async function removeInstance(instance: Instance): Promise<void> {
  mkdirSync(instance.runDir, { recursive: true });
  const runtime = runtimeOver(instance);
  await runtime.init();
  await runtime.purge();
  rmSync(instance.dataDir, { recursive: true, force: true });
}

/** Runs a shell script in the sandbox by way of test-agent.py. */
export async function execIn(
  runtime: Runtime,
  id: string,
  script: string,
): Promise<{ exitCode: number; output: string }> {
  const channel = await runtime.openChannel(id);
  channel.write(`${JSON.stringify(script)}\n`);
  let text = '';
  for await (const chunk of channel) text += chunk;
  return JSON.parse(text) as { exitCode: number; output: string };
}

/** Every trace of a sandbox, or of the whole instance, that the kernel and the file system show. */
export async function tracesOf({ instanceId, dataDir, runDir }: Instance, id = ''): Promise<string[]> {
  await quietTime(instanceId);
  const group = `sandhaven-${instanceId}`;
  const cgroups = cgroupsNamed(group).flatMap(under);
  const loops = under('/sys/block').map((device) => readText(`/sys/block/${device}/loop/backing_file`));
  return [
    ...under(join(dataDir, 'sandboxes')),
    ...under(join(runDir, 'runc')),
    ...under(join(runDir, 's')),
    ...under(slotsFolder({ instanceId })),
    ...cgroups.filter((name) => name.startsWith('sb_')),
    ...loops.filter((file) => file.startsWith(`${realpathSync(dataDir)}/sandboxes`)),
    ...readText('/proc/self/mountinfo')
      .split('\n')
      .filter((line) => line.includes(group) || line.includes(dataDir)),
  ].filter((trace) => trace.includes(id));
}

/** Every cgroup of this name, in whatever hierarchy. */
export function cgroupsNamed(name: string): string[] {
  const roots = ['/sys/fs/cgroup', ...under('/sys/fs/cgroup').map((root) => `/sys/fs/cgroup/${root}`)];
  return roots.map((root) => join(root, name)).filter((folder) => existsSync(folder));
}

/** Folder of a machine's group in the hierarchy that limits its memory. */
export function memoryGroupOf({ instanceId }: Pick<Instance, 'instanceId'>, id: string): string {
  return `${memoryHierarchy(hierarchies())?.mountpoint}/sandhaven-${instanceId}/${id}`;
}

/** Folders of the helpers' fences, one a boot. */
export function fencesOf({ instanceId }: Pick<Instance, 'instanceId'>): string[] {
  return cgroupsNamed(`sandhaven-${instanceId}-helpers`).flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name)),
  );
}

function under(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function slotsFolder({ instanceId }: Pick<Instance, 'instanceId'>): string {
  return `/run/sandhaven-${instanceId}-slots`;
}

/** True where the launcher starts machines by itself; elsewhere its tests have nothing to start. */
export const startsDirectly = (await refusalOfDirect(hierarchies(), tryDeviceRules)) === null;

/** Root of the hierarchy of version 2, with or without controllers; null for none. */
export const unifiedHierarchy = hierarchies().find(({ version }) => version === 2)?.mountpoint ?? null;

/** SANDHAVEN_TEST_RUNTIME chooses it; otherwise it is the one that a service would take here. */
const { kind } = await chooseRuntime(
  process.env['SANDHAVEN_TEST_RUNTIME'] === 'runc' ? 'runc' : 'auto',
  hierarchies(),
);

function testRuntime(): MachineRuntime {
  return kind === 'direct' ? { kind } : { kind, runcPath: soundRunc() };
}

function hierarchies(): Hierarchy[] {
  return parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
}

export function soundRunc(): string {
  const own = join(defaultCacheDir(), 'runc/current/runc');
  return existsSync(own) ? own : 'runc';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
