/** `sandhaven up`: the service in the foreground, until SIGTERM or SIGINT. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { selectTools } from '../catalog/toolsets.ts';
import type { Log } from '../control/ports/index.ts';
import { home } from '../home.ts';
import { createLog } from '../log.ts';
import { limits } from '../model/limits.ts';
import { assertUpCanStart, examine } from '../surfaces/cli/doctor/doctor.ts';
import { readPackages } from '../surfaces/http/packages.ts';
import { readPage } from '../surfaces/http/page.ts';
import { TlsServing } from '../tls/serving.ts';
import { doctorFactsOf } from './doctor-facts.ts';
import { giveBackIdleMemory } from './idle-memory.ts';
import { createListeners } from './listeners.ts';
import { missingPublicNames } from './options/announce.ts';
import type { DocumentDbOptions } from './options/environment.ts';
import type { UpOptions } from './options/up-options.ts';
import { KeptSockets } from './parts/kept-sockets.ts';
import { connectManager, type ManagerAddress, nobody } from './parts/service-manager.ts';
import { type RunningService, startService } from './service.ts';
import type { ServiceOptions } from './service-options.ts';

/** Made by `make web`. */
const PAGE = join(home, 'web/dist');
/** Made by `make packages`. */
const PACKAGES = join(home, 'packages/dist');

/**
 * Machines have other users than the service, who search the folders of their cgroups and read their files of /etc; what is
 * secret has a mode of its own. Under a stricter umask (systemd's UMask=) the kernel refuses a machine its cgroup.
 */
const UMASK = 0o022;

/** Options that come by environment only. */
export interface Secrets {
  apiKey: string | undefined;
  documentDb: DocumentDbOptions;
  manager: ManagerAddress | null;
  /** Files of listening sockets that it has kept, by name. */
  sockets: ReadonlyMap<string, number>;
}

/**
 * Serves until the signal is aborted; resolves with the exit status once everything is closed. A failed start leaves
 * nothing running.
 */
export async function up(options: UpOptions, secrets: Secrets, signal: AbortSignal): Promise<number> {
  process.umask(UMASK);
  raisePriority();
  const log = createLog();
  const kept = new KeptSockets(secrets.sockets);
  let manager = nobody;
  const tools = selectTools(options.toolsets, '--toolsets');
  const facts = doctorFactsOf(options, null);
  const addresses = facts.addresses.filter((address) => !kept.has(address.flag, address));
  await assertUpCanStart({ ...facts, addresses }, options.dataDir, options.kubernetes !== null);
  const unreached = missingPublicNames(options);
  if (unreached) log.warn(unreached.found, { advice: unreached.advice });
  const tls = await openTls(options, log);
  const reload = () => void tls?.reload();
  if (tls) process.on('SIGHUP', reload);
  try {
    const [page, packages] = await Promise.all([readPage(PAGE), readPackages(PACKAGES)]);
    const service = await startService(serviceOptions(options, secrets, log));
    const { documents } = service;
    const present = doctorFactsOf(options, documents && (() => documents.couldWrite()));
    service.services.health.examinedBy(() => examine(present, options.dataDir, options.kubernetes !== null));
    let serving = false;
    const stopGivingBack = giveBackIdleMemory(log);
    const listeners = createListeners(service, { options, tools, tls, page, packages, kept, log });
    try {
      const url = await listeners.open();
      serving = true;
      manager = await connectManager(secrets.manager, kept.settle(), log);
      process.stdout.write(`ready ${url}\n`);
      manager.ready(`Serves at ${url}`);
      await aborted(signal);
      log.info('stopping');
      reportSlowStop(log);
      manager.stopping();
      if (service.shared) await drain(service.readiness);
    } finally {
      stopGivingBack();
      await listeners.close();
      await (serving ? service.close() : service.abandon());
    }
  } finally {
    process.off('SIGHUP', reload);
    tls?.close();
    manager.close();
  }
  return 0;
}

function serviceOptions(options: UpOptions, { apiKey, documentDb }: Secrets, log: Log): ServiceOptions {
  return {
    dataDir: options.dataDir,
    store: options.store,
    warmPool: options.warmPool,
    imageKeptMinutes: options.imageKeptMinutes,
    sleepAfterSeconds: options.sleepAfterSeconds,
    auditKeptDays: options.auditKeptDays,
    apiKey,
    archives: options.archives,
    kubernetes: options.kubernetes,
    machineRuntime: options.machineRuntime,
    diskStore: options.diskStore,
    gpuKind: options.gpuKind,
    defaultNetwork: options.defaultNetwork,
    mostNetwork: options.mostNetwork,
    traffic: options.traffic,
    gitAllow: options.gitAllow,
    webhookAllow: options.webhookAllow,
    registryRules: options.registryRules,
    provider: options.provider,
    identity: options.identity,
    quota: options.quota,
    diskOvercommit: options.diskOvercommit,
    rate: options.rate,
    regions: options.regions,
    passwordSignIn: options.passwordSignIn,
    adminsReadInside: options.adminsReadInside,
    publicPorts: options.publicPorts,
    tracing: options.tracing,
    documentDb,
    clock: Date,
    log,
  };
}

/** Opens the certificate before anything else starts, so that an unusable one fails at once. */
async function openTls(
  { tls: files, publicUrl, previewDomain }: UpOptions,
  log: Log,
): Promise<TlsServing | null> {
  if (!files) return null;
  const api = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return TlsServing.open({ files, hosts: [...api, `*.${previewDomain}`], log });
}

/** Lets the front of several replicas send its calls to the others, before the listeners close. */
async function drain(readiness: RunningService['readiness']): Promise<void> {
  readiness.end();
  await new Promise((resolve) => setTimeout(resolve, limits.replicas.drainMs));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Raises all current threads and those they create later. Changes nothing without CAP_SYS_NICE. */
function raisePriority(): void {
  const niceness = getPriority() - limits.processor.serviceNiceness;
  for (const thread of readdirSync('/proc/self/task')) raise(Number(thread), niceness);
}

function raise(thread: number, niceness: number): void {
  try {
    setPriority(thread, niceness);
  } catch (error) {
    if (!isRefusalOrGone(error)) throw error;
  }
}

function isRefusalOrGone(error: unknown): boolean {
  const { code, info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
  return code === 'ERR_SYSTEM_ERROR' && ['EACCES', 'EPERM', 'ESRCH'].includes(info?.code ?? '');
}

// Reports of a slow stop, in the log: without them, a stop that hangs says nothing of its cause.

/**
 * Reports once if the process still runs after limits.slowStopMs, also when all of its parts say that they are closed.
 * Keeps no process running.
 */
export function reportSlowStop(log: Log): void {
  setTimeout(() => {
    const open: Record<string, number> = {};
    for (const resource of process.getActiveResourcesInfo()) open[resource] = (open[resource] ?? 0) + 1;
    log.warn('the stop takes long; these are still open', { open });
  }, limits.slowStopMs).unref();
}
