/**
 * Services in memory, for tests of the surfaces: as much behaviour as a surface can tell apart, and a record of
 * what was cancelled. What sandboxes really do is tested with real ones.
 */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PreviewService, SshAccessService } from '../../../src/control/access/granted-access.ts';
import { PublicPortService } from '../../../src/control/access/public-ports.ts';
import { RegistryService } from '../../../src/control/images/registries.ts';
import type { SnapshotService } from '../../../src/control/images/snapshots.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import type { SandboxService } from '../../../src/control/lifecycle/sandboxes.ts';
import type { SandboxSleep } from '../../../src/control/lifecycle/sleep.ts';
import { AuditEvents } from '../../../src/control/live/audit-events.ts';
import { HealthService } from '../../../src/control/live/health.ts';
import { HealthEvents } from '../../../src/control/live/health-events.ts';
import { SandboxEvents } from '../../../src/control/live/sandbox-events.ts';
import { SnapshotEvents } from '../../../src/control/live/snapshot-events.ts';
import { UsageSampler } from '../../../src/control/live/usage-sampler.ts';
import { NetworkLog } from '../../../src/control/network/network-log.ts';
import { EverybodysSandboxes } from '../../../src/control/people/everybodys-sandboxes.ts';
import { UserDeletions } from '../../../src/control/people/user-deletions.ts';
import type { AccessToken, ExecResult, SandboxStore } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import type { ExecutionService } from '../../../src/control/work/execution.ts';
import type { FileService } from '../../../src/control/work/files.ts';
import { invalidArgument, notFound, SandhavenError } from '../../../src/model/errors.ts';
import { newSandboxId, newSnapshotId } from '../../../src/model/ids.ts';
import { parseNetwork } from '../../../src/model/network/setting.ts';
import type { NetworkReport } from '../../../src/model/network/traffic.ts';
import { everyRegistry } from '../../../src/model/registries.ts';
import type { Sandbox, SeenSandbox } from '../../../src/model/sandbox.ts';
import type { PublicPorts, WayInside } from '../../../src/model/sandbox-access.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { type Caller, ownerIdOf, type User } from '../../../src/model/user.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryEverybody } from '../../store/memory/memory-everybody.ts';
import { memoryRegistryCredentials } from '../../store/memory/memory-registries.ts';
import { fakeAudit } from './fake-audit.ts';
import { type FakeBuild, fakeBuilds } from './fake-builds.ts';
import { fakeContexts } from './fake-contexts.ts';
import { fakeDocuments } from './fake-documents.ts';
import { fakeForks } from './fake-forks.ts';
import { fakeGit } from './fake-git.ts';
import { fakeHeirs } from './fake-heirs.ts';
import { fakeMetrics } from './fake-metrics.ts';
import { fakeNetworks } from './fake-networks.ts';
import { type FakePeopleOptions, fakePeople, fakePeopleStore } from './fake-people.ts';
import { fakeProcesses } from './fake-processes.ts';
import { fakeSecrets } from './fake-secrets.ts';
import { fakeSessions } from './fake-sessions.ts';
import { fakeTerminals } from './fake-terminals.ts';
import { fakeWatching } from './fake-watching.ts';
import { fakeWebhooks } from './fake-webhooks.ts';

export { API_KEY, MEMBER_KEY, user } from './fake-people.ts';

/** The public face of a class: a fake cannot have its private fields. */
type Face<T> = Pick<T, keyof T>;

export interface FakeServices {
  services: Services;
  sandboxes: Map<string, Sandbox>;
  /** By path. */
  files: Map<string, { content: Buffer; mode: number; durable?: boolean }>;
  /** Commands that began. */
  begun: string[];
  /** What ended because its client went away. */
  cancelled: string[];
  /** What ran to its end. */
  completed: string[];
  idempotencyKeys: string[];
  /** Linux users of calls, null for one that named none. */
  users: (string | null)[];
  /** Sandboxes whose access was revoked since a member left. */
  revoked: string[];
  /** Builds that have begun. */
  builds: FakeBuild[];
  /** Takes reports of networks as the engine gives them. */
  reportNetwork(...reports: NetworkReport[]): void;
}

export function createFakeServices(options: FakePeopleOptions = {}): FakeServices {
  const networkLog = new NetworkLog(Date, () => null);
  const fake: Omit<FakeServices, 'services'> = {
    sandboxes: new Map(),
    files: new Map(),
    begun: [],
    cancelled: [],
    completed: [],
    idempotencyKeys: [],
    users: [],
    revoked: [],
    builds: [],
    reportNetwork(...reports) {
      networkLog.add(reports);
      services.learning.hear(reports);
    },
  };
  const log = { info() {}, warn() {}, error() {} };
  const events = new SandboxEvents({
    store: fakeRows(fake.sandboxes),
    log,
    seen: (sandbox) => sandbox,
  });
  const store = options.store ?? fakePeopleStore();
  const { access, ...people } = fakePeople({
    sandboxes: fake.sandboxes,
    revoked: fake.revoked,
    ...options,
    store,
  });
  const audited = fakeAudit();
  const health = fakeHealth();
  const roleOf = async (id: string) => (await people.users.find(id)).role;
  const secrets = fakeSecrets(fake.sandboxes);
  const sandboxes = fakeSandboxes(fake, secrets.sandboxSecrets);
  const snapshots: Snapshot[] = [];
  const { adminsReadInside = false } = options;
  const machines: Pick<Machines, 'command'> = {
    command: async (id) => {
      const sandbox = fake.sandboxes.get(id) as Sandbox;
      fake.sandboxes.delete(id);
      return { sandbox, deleted: true };
    },
  };
  const services = {
    sandboxes,
    ...fakeBuilds(fake.builds),
    ...fakeForks({ sandboxes: fake.sandboxes, snapshots, find: sandboxes.get }),
    sleep: fakeSleep(fake.sandboxes),
    usageHistory: { of: async (_: User, sandboxId: string) => ({ sandboxId, ...historyOfUse }) },
    ...secrets,
    everybody: fakeEverybody(fake, people),
    userDeletions: new UserDeletions({
      store: { userDeletions: store.userDeletions, sandboxes: fakeRows(fake.sandboxes) },
      users: people.users,
      machines,
      snapshots: {
        list: async () => ({ snapshots: [], totalCount: 0 }),
        delete: async () => ({}) as Snapshot,
      },
      heirs: fakeHeirs(fake.sandboxes, fake.revoked, store, { machines, adminsReadInside }),
      ...{ authorizations: null, audit: audited.audit, replicas: createAlone(), unfinished: { add() {} } },
    }),
    events,
    usage: new UsageSampler({
      store: {
        list: async ({ ownerId, state }) => ({
          sandboxes: [...fake.sandboxes.values()].filter(
            (one) => one.ownerId === ownerId && one.state === state,
          ),
          totalCount: 0,
        }),
      },
      ...{ events, log, clock: Date, bounds: { total: 1_000, perOwner: 200, atOnce: 8 } },
      measure: async () => ({ ...usage, cpuMs: Date.now() / 2 }),
    }),
    snapshots: fakeSnapshots(fake, snapshots),
    snapshotEvents: new SnapshotEvents({
      ...{ store: { find: async () => null }, replicas: createAlone(), log },
    }),
    files: fakeFiles(fake),
    execution: fakeExecution(fake),
    sessions: fakeSessions(),
    ...people,
    ...audited,
    metrics: fakeMetrics(audited.audit),
    auditEvents: new AuditEvents({
      ...{ audit: audited.audit, roleOf, log },
    }),
    registries: new RegistryService({
      store: memoryRegistryCredentials(),
      rules: everyRegistry,
      clock: Date,
    }),
    git: fakeGit(),
    ...fakeNetworks(fake.sandboxes, networkLog, store.ownerNetworks),
    documents: fakeDocuments(),
    previews: fakePreviews(),
    health,
    webhooks: fakeWebhooks(people.users),
    healthEvents: new HealthEvents({ health, roleOf, log }),
    filePreviews: {
      create: async (_caller: Caller, _reference: string, path: string) => ({
        ...{ url: `http://file-key.localhost:1/${path}`, mediaType: 'image/png', expiresAt: 0 },
      }),
    },
    sshAccess: fakeSshAccess(),
    contexts: fakeContexts(),
    processes: fakeProcesses(),
    terminals: {
      ...fakeTerminals(() => {}),
      list: async () => [
        {
          ...{ terminalId: 'main', createdAtMs: 0, size: { columns: 80, rows: 24 } },
          ...{ viewers: 1, program: 'vim', busy: true },
        },
      ],
      end: async () => {},
    },
    publicPorts: fakePublicPorts(fake.sandboxes, options.mayBePublic ?? false),
    accessRevocation: {
      async revoke(caller: Caller, reference: string, kinds: readonly WayInside[]) {
        const of = [...fake.sandboxes.values()].find(
          ({ id, name }) => id === reference || name === reference,
        );
        if (kinds.includes('token')) await access.revoke(of?.id ?? caller.id, ['token']);
        const tokens = { ssh: kinds.includes('ssh') ? 2 : 0, preview: kinds.includes('preview') ? 3 : 0 };
        return { sandboxId: reference, tokens };
      },
      revokeToken: async (_caller: Caller, sandboxId: string, token: string) => fakeToken(token, sandboxId),
      tokenOf: async (_caller: Caller, token: string) =>
        fakeToken(token, String([...fake.sandboxes.keys()][0])),
    },
  };
  return { ...fake, services: services as unknown as Services };
}

function fakePublicPorts(sandboxes: Map<string, Sandbox>, mayBePublic: boolean): PublicPortService {
  const open = new Map<string, PublicPorts>();
  const found = (wanted: string) =>
    [...sandboxes.values()].find(({ id, name }) => id === wanted || name === wanted) ?? null;
  return new PublicPortService({
    sandboxes: { find: async (_owner, wanted) => found(wanted), names: async () => [] },
    access: {
      publicPorts: async (id) => open.get(id) ?? [],
      setPublicPorts: async (id, ports) => void open.set(id, ports),
    },
    mayBePublic,
  });
}

/** Two tokens are known: one of SSH, and one of a signed preview. */
function fakeToken(token: string, sandboxId: string): Partial<AccessToken> {
  const ssh = token === 'token';
  if (!ssh && token !== 'key') throw notFound('token', 'The token gives no access.');
  const port = ssh ? null : 3_000;
  return { sandboxId, kind: ssh ? 'ssh' : 'preview', port, createdAt: 0, expiresAt: ssh ? null : 60_000 };
}

function fakeHealth(): HealthService {
  const health = new HealthService({
    store: {
      schedulable: async () => [sandboxRecord({ id: 'sb_1' }), sandboxRecord({ state: 'stopped' })],
      pool: async () => [poolRecord()],
    },
    everybody: { list: async ({ state }) => ({ sandboxes: [], totalCount: state ? 1 : 2 }) },
    runtime: {
      capacity: async () => ({
        ...{ freeMemoryBytes: 8e9, freeDiskBytes: 5e10, reserveMemoryBytes: 1e9, reserveDiskBytes: 5e9 },
        ...{ freeSlots: 100, gpus: 0, freeGpus: 0 },
      }),
      pausedReason: (id) => (id === 'sb_1' ? 'The disk is full.' : null),
    },
    pool: { min: 2, max: 5 },
    ...{ clock: Date, log: { info() {}, warn() {}, error() {} } },
  });
  health.examinedBy(async () => [
    { name: 'cgroups', status: 'ok', found: 'version 2' },
    { name: 'disk', status: 'warn', found: '9.0 GiB free', advice: 'Watch the free space.' },
  ]);
  return health;
}

function fakeRows(sandboxes: Map<string, Sandbox>): Pick<SandboxStore, 'reread' | 'names'> {
  return {
    reread: async (id) => sandboxes.get(id) ?? null,
    names: async (owner) => [...sandboxes.values()].filter(({ ownerId }) => ownerId === owner),
  };
}

/** The service as it is, over the sandboxes in memory. */
function fakeEverybody(
  { sandboxes }: Omit<FakeServices, 'services'>,
  { users, teams }: Pick<Services, 'users' | 'teams'>,
): EverybodysSandboxes {
  const findUser = (id: string) => users.find(id);
  const find = (id: string) => teams.find(id).catch(() => null);
  return new EverybodysSandboxes({
    ...memoryEverybody({ all: async () => [...sandboxes.values()] }, { findUser }, { find }),
    sandboxes: { reread: async (id) => sandboxes.get(id) ?? null },
    users,
    teams: { find },
    machines: {
      async command(id, { type }) {
        const sandbox = sandboxes.get(id);
        if (!sandbox) throw notFound('sandbox', 'gone');
        if (type === 'delete') sandboxes.delete(id);
        else Object.assign(sandbox, { state: 'stopped' });
        return { sandbox, deleted: type === 'delete' };
      },
    },
  });
}

/** The clock stands at the epoch. */
function fakeSshAccess(): Face<SshAccessService> {
  return {
    serveAt: () => {},
    create: async (_caller, reference, { expiresInMinutes }) => ({
      ...{ host: '127.0.0.1', port: 22, username: `${reference}`, accessToken: 'token' },
      hostKey: 'ssh-ed25519 AAAA',
      expiresAt: expiresInMinutes === 0 ? null : expiresInMinutes * 60_000,
    }),
  };
}

function fakePreviews(): Face<PreviewService> {
  return {
    site: null,
    servedAt: () => {},
    ports: async () => [{ port: 80, name: 'nginx', pid: 7, command: 'nginx: master process' }],
    preview: async (_caller, reference, port, seconds) =>
      seconds === null
        ? { url: `http://${port}-${reference}.localhost:1/`, token: 'key', expiresAt: null }
        : { url: `http://${port}-key.localhost:1/`, token: null, expiresAt: seconds * 1_000 },
  };
}

function fakeSnapshots(fake: Omit<FakeServices, 'services'>, all: Snapshot[]): Face<SnapshotService> {
  const find = (caller: User, reference: string): Snapshot => {
    const found = all.find(
      ({ id, name, ownerId }) => ownerId === ownerIdOf(caller) && (id === reference || name === reference),
    );
    if (found) return found;
    throw notFound('snapshot', `There is no snapshot '${reference}'.`);
  };
  return {
    async create(
      caller,
      { name, image, entrypoint, user = null, resources, regionId = 'local' },
      idempotencyKey,
    ) {
      if (idempotencyKey !== undefined) fake.idempotencyKeys.push(idempotencyKey);
      const snapshot: Snapshot = {
        id: newSnapshotId(),
        ownerId: ownerIdOf(caller),
        name,
        state: 'pending',
        stateReason: null,
        image,
        imageDigest: null,
        entrypoint: entrypoint ?? null,
        resources: { cpu: 2, memory: 4, disk: 20, gpu: 0, ...resources },
        regionId,
        sizeBytes: null,
        creationKey: null,
        createdAt: all.length,
        updatedAt: 0,
        network: null,
        user,
        source: null,
        imageConfig: null,
      };
      all.unshift(snapshot);
      return snapshot;
    },
    get: async (caller, reference) => find(caller, reference),
    give: async () => false,
    async delete(caller, reference) {
      const deleted = find(caller, reference);
      all.splice(all.indexOf(deleted), 1);
      return deleted;
    },
    async setNetwork(caller, reference, request) {
      const network = request === 'default' ? null : parseNetwork('network', request).setting;
      return Object.assign(find(caller, reference), { network });
    },
    async list(caller, { page, pageSize }) {
      const own = all.filter(({ ownerId }) => ownerId === ownerIdOf(caller));
      return {
        snapshots: own.slice((page - 1) * pageSize, page * pageSize),
        totalCount: own.length,
      };
    },
  };
}

/** Sandboxes fall asleep at the epoch. */
function fakeSleep(
  sandboxes: Map<string, SeenSandbox>,
): Pick<Face<SandboxSleep>, 'pause' | 'resume' | 'set' | 'since'> {
  const change = (caller: User, reference: string, patch: Partial<SeenSandbox>) => {
    const found = [...sandboxes.values()].find(
      ({ id, name, ownerId }) => ownerId === ownerIdOf(caller) && (id === reference || name === reference),
    );
    if (!found) throw notFound('sandbox', `There is no sandbox '${reference}'.`);
    const sandbox = Object.assign(found, patch);
    return { sandbox, since: sandbox.asleepSince ?? null };
  };
  return {
    since: (id) => sandboxes.get(id)?.asleepSince ?? null,
    pause: async (caller, reference) => change(caller, reference, { asleepSince: 0 }),
    resume: async (caller, reference) => change(caller, reference, { asleepSince: null }),
    set: async (caller, reference, { afterSeconds = null, wakes = false }) =>
      change(caller, reference, { sleep: { afterSeconds, wakes } }),
  };
}

/** One sample, and what was killed in its step. */
const historyOfUse = {
  samples: [{ at: 0, cores: 1.23456, memoryBytes: 5_242_880, diskBytes: null }],
  outOfMemory: [{ at: 5_000, killed: 1, process: 'python3' }],
};

/** Of every sandbox in memory. */
const usage = { cpuMs: 12_000, memoryBytes: 5_000_000, diskBytes: 90_000_000 };

function fakeSandboxes(
  fake: Omit<FakeServices, 'services'>,
  secrets: Pick<Services['sandboxSecrets'], 'accept'>,
): Face<SandboxService> {
  const of = (caller: User) =>
    [...fake.sandboxes.values()].filter(({ ownerId }) => ownerId === ownerIdOf(caller));
  const find = (caller: User, reference: string): Sandbox => {
    const found = of(caller).find(({ id, name }) => id === reference || name === reference);
    if (!found) throw notFound('sandbox', `There is no sandbox '${reference}'.`);
    return found;
  };
  return {
    seen: (sandbox) => sandbox,
    usage: async () => usage,
    async create(caller, request, { onProgress, idempotencyKey } = {}) {
      if (idempotencyKey !== undefined) fake.idempotencyKeys.push(idempotencyKey);
      for (let done = 1; done <= 3 && request.image; done++) {
        onProgress?.({ message: 'Pulling', done, total: 3 });
        await sleep(20);
      }
      if (request.image === 'slow') await sleep(300);
      fake.users.push(request.user ?? null);
      const secretIds = await secrets.accept(caller, request.secrets);
      const sandbox = { ...newSandbox(caller, request.name ?? 'calm-reef-1', request), secretIds };
      fake.sandboxes.set(sandbox.id, sandbox);
      fake.completed.push(`create ${sandbox.name}`);
      return sandbox;
    },
    get: async (caller, reference) => find(caller, reference),
    async list(caller, { state }, { page, pageSize }) {
      const all = of(caller)
        .filter((one) => !state || one.state === state)
        .reverse();
      return { sandboxes: all.slice((page - 1) * pageSize, page * pageSize), totalCount: all.length };
    },
    start: async (caller, reference) => Object.assign(find(caller, reference), { state: 'started' }),
    async stop(caller, reference) {
      const sandbox: Sandbox = Object.assign(find(caller, reference), { state: 'stopped' });
      if (sandbox.ephemeral) fake.sandboxes.delete(sandbox.id);
      return { sandbox, deleted: sandbox.ephemeral };
    },
    async archive(caller, reference) {
      const sandbox = find(caller, reference);
      if (sandbox.state === 'stopped') return Object.assign(sandbox, { state: 'archived' });
      throw new SandhavenError('invalid_state', `Sandbox '${sandbox.name}' is ${sandbox.state}.`, {
        parameter: 'sandbox',
        hint: 'Call Sandbox.StopSandbox first.',
      });
    },
    async delete(caller, reference) {
      const { id, name } = find(caller, reference);
      fake.sandboxes.delete(id);
      return { id, name };
    },
    configure: async (caller, reference, settings) => ({
      sandbox: Object.assign(find(caller, reference), settings),
      deleted: false,
    }),
    async resize(caller, reference, request) {
      const sandbox = find(caller, reference);
      Object.assign(sandbox.resources, request);
      return sandbox;
    },
    setLabels: async (caller, reference, labels) => Object.assign(find(caller, reference), { labels }),
    async setDeadline(caller, reference, seconds, action) {
      const sandbox = find(caller, reference);
      const moved = {
        at: Date.now() + seconds * 1_000,
        action: action ?? sandbox.deadline?.action ?? ('stop' as const),
      };
      return Object.assign(sandbox, { deadline: seconds === 0 ? null : moved });
    },
  };
}

function fakeExecution(fake: Omit<FakeServices, 'services'>): Face<ExecutionService> {
  const run = async (
    command: string,
    { user = null, timeoutMs }: { user?: string | null | undefined; timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<ExecResult> => {
    const begun = performance.now();
    fake.begun.push(command);
    fake.users.push(user);
    const seconds = /^sleep (\S+)$/.exec(command)?.[1];
    const waitMs = Math.min(seconds === undefined ? 0 : Number(seconds) * 1000, timeoutMs);
    if (waitMs > 0) {
      await sleep(waitMs, undefined, signal ? { signal } : {}).catch((error: unknown) => {
        fake.cancelled.push(command);
        throw error;
      });
    }
    if (command === 'defect') throw new Error('secret /srv/path');
    fake.completed.push(command);
    const output = /^echo (.*)$/s.exec(command)?.[1] ?? '';
    const exitCode = Number(/^exit (\d+)$/.exec(command)?.[1] ?? 0);
    const stdout = output === '' ? '' : `${output}\n`;
    const durationMs = performance.now() - begun;
    return { output: stdout, stdout, stderr: '', exitCode, timedOut: false, truncated: false, durationMs };
  };
  return {
    runCommand: (_caller, _reference, { command, ...request }, signal) => run(command, request, signal),
    runCode: async (_caller, _reference, { code, ...request }, signal) => ({
      ...(await run(code, request, signal)),
      charts: [],
    }),
  };
}

function fakeFiles(fake: Omit<FakeServices, 'services'>): Face<FileService> {
  const contentOf = (path: string): Buffer => {
    const file = fake.files.get(path);
    if (!file) throw notFound('file', `There is no file '${path}'.`);
    return file.content;
  };
  return {
    search: async () => ({ files: [], totalCount: 0, literal: false }),
    replace: async () => ({ results: [], filesModified: 0, literal: false }),
    async list(_caller, _reference, { path, maxItems, offset }) {
      const items = [...fake.files].sort().map(([name, { content }]) => ({
        name,
        type: 'file' as const,
        size: content.length,
        link: false,
      }));
      return { path, items: items.slice(offset, offset + maxItems), totalCount: items.length };
    },
    async find(_caller, _reference, { maxItems, offset }) {
      const items = [...fake.files.keys()].sort();
      return { items: items.slice(offset, offset + maxItems), totalCount: items.length };
    },
    async info(_caller, _reference, { path, user = null }) {
      fake.users.push(user);
      const owned = { owner: 'root', group: 'root', modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
      const below = `${path.replace(/\/+$/, '')}/`;
      const isFolder = !fake.files.has(path) && [...fake.files.keys()].some((name) => name.startsWith(below));
      if (isFolder) return { path, type: 'dir', size: 4096, mode: 0o755, ...owned };
      const mode = fake.files.get(path)?.mode ?? 0o644;
      return { path, type: 'file', size: contentOf(path).length, mode, ...owned };
    },
    async details(_caller, _reference, { path, user = null }) {
      fake.users.push(user);
      const owned = { uid: 0, gid: 0, owner: 'root', group: 'root', modifiedMs: 0 };
      const entry = { path: '', type: 'file' as const, size: contentOf(path).length, mode: 0o644, ...owned };
      return { items: [entry], totalCount: 1, nextOffset: null };
    },
    watch: fakeWatching(),
    async setAttributes(_caller, _reference, { path, mode, user = null }) {
      fake.users.push(user);
      fake.files.set(path, { content: contentOf(path), mode: mode ?? 0o644 });
    },
    async read(_caller, _reference, { path, startLine = 1, endLine }) {
      const content = contentOf(path);
      const lines = content.toString('latin1').split(/(?<=\n)/);
      const last = Math.min(endLine ?? lines.length, lines.length);
      return {
        content: Buffer.from(lines.slice(startLine - 1, last).join(''), 'latin1'),
        size: content.length,
        totalLines: lines.length,
        startLine,
        endLine: last,
      };
    },
    async readStream(_caller, _reference, { path, user = null, start = 0, end }, signal) {
      fake.users.push(user);
      if (path === 'endless') return { size: 0, stream: endless(fake, signal) };
      const content = contentOf(path);
      const part = content.subarray(start, end === undefined ? undefined : end + 1);
      const shown = path === 'shrinking' ? part.subarray(0, part.length - 1) : part;
      return { size: content.length, stream: Readable.from(shown.length > 0 ? [shown] : []) };
    },
    async write(_caller, _reference, query, signal) {
      const { path, content, createParents, mode, durable = false } = query;
      fake.users.push(query.user ?? null);
      if (!createParents && path.includes('/')) throw notFound('file', 'There is no such folder.');
      if (path === '/') throw invalidArgument('path', "'/' is a directory.");
      const created = !fake.files.has(path);
      const bytes = await collect(content).catch((error: unknown) => {
        fake.cancelled.push(`write ${path} ${signal?.aborted}`);
        throw error;
      });
      fake.files.set(path, { content: bytes, mode: mode ?? fake.files.get(path)?.mode ?? 0o644, durable });
      return { bytesWritten: bytes.length, created };
    },
    async createFolder(_caller, _reference, { path, mode }) {
      if (fake.files.has(path)) return { created: false };
      fake.files.set(path, { content: Buffer.alloc(0), mode });
      return { created: true };
    },
    async move(_caller, _reference, { source, destination }) {
      const file = { content: contentOf(source), mode: 0o644 };
      fake.files.set(destination, file);
      fake.files.delete(source);
    },
    async remove(_caller, _reference, { path }) {
      contentOf(path);
      fake.files.delete(path);
    },
  };
}

function endless(fake: Omit<FakeServices, 'services'>, signal?: AbortSignal): Readable {
  const stream = new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
  signal?.addEventListener('abort', () => stream.destroy());
  once(stream, 'close').then(() => fake.cancelled.push('read endless'));
  return stream;
}

async function collect(content: Buffer | Readable): Promise<Buffer> {
  if (Buffer.isBuffer(content)) return content;
  return Buffer.concat(await content.toArray());
}

function newSandbox(
  caller: Pick<Caller, 'id' | 'team'>,
  name: string,
  request: Parameters<SandboxService['create']>[1],
): Sandbox {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5);
  const { language, cpu, memory, disk, gpu, labels, envVars, ephemeral, autoStopMinutes } = request;
  return sandboxRecord({
    ...{
      id: request.id ?? newSandboxId(),
      ownerId: ownerIdOf(caller),
      name,
      language,
      labels,
      envVars,
      ephemeral,
      autoStopMinutes,
    },
    snapshot: request.snapshot ?? null,
    user: request.user ?? null,
    image: request.image ?? 'base',
    resources: { cpu, memory, disk, gpu },
    network: parseNetwork('network', request.network ?? 'open').setting,
    ...{ createdAt: now, updatedAt: now, lastActivityAt: now, startedAt: now },
  });
}
