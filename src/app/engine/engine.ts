/** The concrete engine: the OCI runtime with its network, the images, and the link to the agents. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentLink } from '../../agent-link/agent-link.ts';
import type { DoctorFacts } from '../../control/ports/doctor-facts.ts';
import type {
  AgentLink,
  Clock,
  Images,
  Log,
  NetworkEvents,
  RegistryCredentialStore,
  RemoteArchives,
  Runtime,
} from '../../control/ports/index.ts';
import { type DiskStoreOptions, presentStore } from '../../model/disk-store.ts';
import { SandhavenError } from '../../model/errors.ts';
import { defaultGpuKind, type GpuKind } from '../../model/gpu-kind.ts';
import type { MachineSize } from '../../model/quota.ts';
import { everyRegistry, type RegistryRules } from '../../model/registries.ts';
import type { Exit } from '../../outbound/exit.ts';
import { collectArchives, type RemotePlace } from '../../runtime/archives/places.ts';
import { type ArchiveEncryption, createArchiveEncryption } from '../../runtime/archives/protection.ts';
import { defaultCacheDir } from '../../runtime/images/cache-dir.ts';
import { createImages, type LocalImages } from '../../runtime/images/images.ts';
import { readImageRecord } from '../../runtime/images/registry/record.ts';
import { examineDisks } from '../../runtime/oci/disk/copy-image.ts';
import { openDiskStore } from '../../runtime/oci/disk/disk-store.ts';
import { createOwners } from '../../runtime/oci/fairness/owners.ts';
import { cdiFolders } from '../../runtime/oci/gpu/cdi-folders.ts';
import { examineGpus } from '../../runtime/oci/gpu/gpus.ts';
import { type Hierarchy, memoryHierarchy, parseHierarchies } from '../../runtime/oci/host/hierarchies.ts';
import { disksFolder } from '../../runtime/oci/host/layout.ts';
import { refusalOf } from '../../runtime/oci/host/liveness.ts';
import { addressOf } from '../../runtime/oci/host/plan.ts';
import { hostMemory, machineSize } from '../../runtime/oci/host/room.ts';
import { isVulnerable, parseRuncVersion } from '../../runtime/oci/machine/machine-runtime.ts';
import { runCommand } from '../../runtime/oci/network/command.ts';
import { type AddressPolicies, samplePolicies } from '../../runtime/oci/network/policy/address-policy.ts';
import { type EgressWay, sampleWay } from '../../runtime/oci/network/policy/egress-chains.ts';
import { createReports } from '../../runtime/oci/network/reports.ts';
import { renderRuleset } from '../../runtime/oci/network/ruleset.ts';
import { createSlots } from '../../runtime/oci/network/slots.ts';
import { unlimitedAddresses } from '../../runtime/oci/network/traffic/limited.ts';
import { type EachMachine, renderTraffic } from '../../runtime/oci/network/traffic/table.ts';
import { findOrphans } from '../../runtime/oci/orphans.ts';
import { createOciRuntime, type OciRuntime } from '../../runtime/oci/runtime.ts';
import type { SandboxCopies } from '../../runtime/oci/storage/copies.ts';
import { tryProgram } from '../../runtime/start-program.ts';
import { type DataDirectory, instanceIn, isLocked } from '../../store/data-directory.ts';
import type { Secrets } from '../../store/files/secrets.ts';
import { NATIVE } from './installed.ts';
import { type ChosenRuntime, chooseRuntime, findRunc, type RuntimeChoice } from './machine-runtime.ts';

export interface Engine {
  runtime: Runtime;
  images: Images;
  agent: AgentLink;
  /** null when archives lie on this host alone. */
  remoteArchives: RemoteArchives | null;
  /** null where the engine has no network policies. */
  networkEvents: NetworkEvents | null;
  /** Size of what sandboxes are made on. */
  size(): Promise<MachineSize>;
  /** Fences leftovers of an earlier process, then initializes. */
  init(): Promise<void>;
}

/** The engine of this host. */
export interface HostEngine extends Engine {
  runtime: OciRuntime;
  images: LocalImages;
  copies: SandboxCopies;
}

export function isOnHost(engine: Engine): engine is HostEngine {
  return 'copies' in engine;
}

const SLOTS_READY = 4;

export interface EngineDependencies {
  data: DataDirectory;
  secrets: Secrets;
  /** Rules and credentials of pulls; when absent, every registry is allowed, without credentials. */
  registries?: { rules: RegistryRules; credentials: RegistryCredentialStore };
  exit: Exit;
  clock: Clock;
  log: Log;
  gpuKind?: GpuKind | undefined;
  /** Limits of the traffic of each sandbox. */
  traffic?: EachMachine | undefined;
  /** Of the data directory; as it is by default. */
  diskStore?: DiskStoreOptions | undefined;
  /** `auto` by default. */
  machineRuntime?: RuntimeChoice | undefined;
  /** Place of archives outside this host; closed with the runtime. */
  remotePlace?: RemotePlace | null;
  /** true: new archives are encrypted. */
  encrypted?: boolean;
}

export async function openEngine(parts: EngineDependencies): Promise<HostEngine> {
  const { data, secrets, registries, exit, log, gpuKind = defaultGpuKind, remotePlace = null } = parts;
  const cacheDir = defaultCacheDir();
  const runtimeKind = await chooseRuntime(parts.machineRuntime ?? 'auto', hierarchies());
  const runDir = runDirOf(data.instance);
  const launcherPath = launcher();
  await openDiskStore(data.path, launcherPath, parts.diskStore ?? presentStore);
  const owners = createOwners();
  const networkEvents = createReports(owners.of);
  const slots = createSlots({
    instanceId: data.instance,
    runDir,
    dataDir: data.path,
    launcherPath,
    egressPath: program(join(NATIVE, 'sandhaven-egress')),
    log,
    poolSize: SLOTS_READY,
    network: 'nat',
    ownerOf: owners.of,
    onNetworkEvents: networkEvents.report,
    ...(parts.traffic ? { traffic: parts.traffic } : {}),
  });
  const runtime = createOciRuntime({
    instanceId: data.instance,
    dataDir: data.path,
    runDir,
    machineRuntime:
      runtimeKind.kind === 'runc'
        ? { kind: 'runc', runcPath: program(findRunc(cacheDir)) }
        : { kind: 'direct' },
    launcherPath,
    agentPath: program(join(NATIVE, 'sandhaven-agent')),
    slots,
    owners,
    gpuKind,
    cdiFolders,
    rootfsPath: (digest) => images.rootfsPath(digest),
    installationKey: secrets.deriveKey('archive signature'),
    authorityKey: secrets.deriveKey('sandbox authorities'),
    encryption: encryptionOf(secrets, parts.encrypted ?? false),
    remoteArchives: remotePlace,
    log,
  });
  const images = createImages({
    dataDir: data.path,
    cacheDir,
    helpers: runtime.helpers,
    gates: { exit, launcherPath, folder: join(runDir, 'registries') },
    unpackPath: program(join(NATIVE, 'sandhaven-unpack')),
    rules: registries?.rules ?? everyRegistry,
    registries: {
      credentials: async (registry) => registries?.credentials.get(registry) ?? null,
      folder: join(runDir, 'registries'),
    },
    log,
  });
  return {
    runtime,
    images,
    agent: createAgentLink({ openChannel: (id) => runtime.openChannel(id), roots: hostRoots() }),
    copies: runtime.copies,
    networkEvents,
    remoteArchives: remotePlace && {
      collect: (request) => collectArchives(remotePlace.place, request, log),
    },
    size: () => machineSize(disksFolder(data.path)),
    async init() {
      await runtime.init();
      await images.init();
      await logRuntime(runtimeKind, log);
    },
  };
}

/** Encryption of archives with a key that follows from the secret key: whoever has that one reads them. */
export function encryptionOf(secrets: Secrets, encrypts: boolean): ArchiveEncryption {
  const { keyId } = secrets;
  return createArchiveEncryption({ key: secrets.deriveKey('archive encryption'), keyId }, encrypts);
}

type HostFacts = Omit<
  DoctorFacts,
  | 'addresses'
  | 'missingPublicNames'
  | 'readCertificate'
  | 'clientNames'
  | 'proveArchiveStore'
  | 'couldWriteDocuments'
>;

/** Facts of the concrete parts for `doctor`; starts nothing. */
export function doctorFacts(gpuKind = defaultGpuKind, runtimeChoice: RuntimeChoice = 'auto'): HostFacts {
  const cacheDir = defaultCacheDir();
  return {
    tryProgram,
    machineRuntime: () => chooseRuntime(runtimeChoice, hierarchies()),
    runcPath: findRunc(cacheDir),
    judgeRunc(output) {
      const version = parseRuncVersion(output);
      return version && { version: version.text, vulnerable: isVulnerable(version) };
    },
    builtPrograms: ['sandhaven-agent', 'sandhaven-egress', 'sandhaven-launcher', 'sandhaven-unpack'].map(
      (name) => join(NATIVE, name),
    ),
    examineGpus: () => examineGpus(cdiFolders, gpuKind),
    readBaseImage: () => readImageRecord(join(cacheDir, 'base/current')),
    cgroups: hierarchies,
    examineDisks,
    availableMemoryBytes: async () => hostMemory(memoryHierarchy(hierarchies())).availableBytes,
    tryRules: () => tryRuleset(new Map(), null),
    tryNetworkRules: () => tryRuleset(samplePolicies(), sampleWay),
    findOrphans,
    isServed: isLocked,
    otherService,
  };
}

function hierarchies(): Hierarchy[] {
  return parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Finds another live service with the instance id of this directory; ignores the directory's own service. */
function otherService(dataDir: string): { found: string; advice: string } | null {
  const id = instanceIn(dataDir);
  if (id === null || isLocked(dataDir)) return null;
  const refusal = refusalOf({ id, runDir: runDirOf(id), dataDir });
  return refusal && { found: refusal.message, advice: refusal.fields.hint ?? '' };
}

async function tryRuleset(policies: AddressPolicies, egress: EgressWay | null): Promise<string | null> {
  const rules = renderRuleset({
    ...{ instanceId: 'doctor', gateway: addressOf(0), guardedUplinks: [], policies, egress },
  });
  const each = { bandwidthMbps: 1, connectionsPerSecond: 1 };
  const traffic = renderTraffic('doctor', each, unlimitedAddresses);
  return runCommand('unshare', ['--net', 'nft', '-f', '-'], rules + traffic).then(
    () => null,
    (error: Error) => (error.cause instanceof Error ? error.cause.message : error.message),
  );
}

export function runDirOf(instance: string): string {
  return `/run/sandhaven-${instance}`;
}

async function logRuntime({ kind, why }: ChosenRuntime, log: Log): Promise<void> {
  if (kind === 'direct') return log.info('machines are started directly', { why });
  const { runcPath, judgeRunc } = doctorFacts();
  const verdict = judgeRunc((await tryProgram(runcPath, ['--version'])) ?? '');
  if (verdict?.vulnerable === false) log.info('runc in use', { version: verdict.version });
  else if (verdict) log.warn('this runc has known escapes; run `make setup`', { version: verdict.version });
  else log.warn('runc did not say its version in time; `sandhaven doctor` asks again', { path: runcPath });
}

/** Path of the launcher. Throws `failed_precondition` without it. */
export function launcher(): string {
  return program(join(NATIVE, 'sandhaven-launcher'));
}

function program(path: string): string {
  if (existsSync(path)) return path;
  throw new SandhavenError('failed_precondition', `The program ${path} is missing.`, {
    hint: "Run 'make setup build' in the checkout, or install the package sandhaven again.",
  });
}

// Certificates of authorities that this host trusts, for sandboxes whose images have none.

/** Bundles of Debian and Alpine, of Fedora and its kin, and of openSUSE. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
const MOST_BYTES = 1024 ** 2;

/**
 * Returns the bundle that SSL_CERT_FILE names, or else the system's, in PEM. Null where there is none, or one of over
 * 1 MiB, or of no text.
 */
export function hostRoots(
  named = process.env['SSL_CERT_FILE'],
  bundles: readonly string[] = BUNDLES,
): string | null {
  for (const path of named ? [named] : bundles) {
    try {
      if (statSync(path).size > MOST_BYTES) continue;
      const text = readFileSync(path, 'utf8');
      if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    } catch {
      // Not there, or not to be read: the next one may be.
    }
  }
  return null;
}
