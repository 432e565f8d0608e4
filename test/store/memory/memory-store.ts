/** The store's port in the plainest way there is: the model that property tests compare a real store with. */

import type {
  AccessToken,
  Allowance,
  BuildStep,
  BuildStepStore,
  GitCredential,
  SandboxPatch,
  SandboxStore,
  SnapshotPatch,
  SnapshotStore,
  Store,
} from '../../../src/control/ports/index.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { assertWithinQuota } from '../../../src/model/quota.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { PublicPorts } from '../../../src/model/sandbox-access.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { memoryAudit } from './memory-audit.ts';
import { memoryAuthorizations } from './memory-authorizations.ts';
import { memoryCredentials } from './memory-credentials.ts';
import { memoryDeviceSignIns } from './memory-device-sign-ins.ts';
import { memoryEverybody } from './memory-everybody.ts';
import { memoryOAuth } from './memory-oauth.ts';
import { memoryOwnerNetworks } from './memory-owner-networks.ts';
import { memoryPendingAuthorizations } from './memory-pending-authorizations.ts';
import { memoryPeople } from './memory-people.ts';
import { memoryRegistryCredentials } from './memory-registries.ts';
import { memorySecrets } from './memory-secrets.ts';
import { memoryServiceSecrets } from './memory-service-secrets.ts';
import { memorySessions } from './memory-sessions.ts';
import { memorySignIns } from './memory-sign-ins.ts';
import { promisedDiskGbOf, usageOf } from './memory-usage.ts';
import { memoryWebhooks } from './memory-webhooks.ts';

/** Rows of the tables that the lifecycle writes; a row is replaced, never changed. */
export interface Tables {
  sandboxes: Map<string, Sandbox>;
  snapshots: Map<string, Snapshot>;
  /** Answers of idempotent calls, by owner and key. */
  answers: Map<string, { requestDigest: string; result: unknown; at: number }>;
  /** Replicas at work on a key, by owner and key. */
  held: Map<string, string>;
  /** Live replicas with the time of their last renewal; null where there is one process only. */
  replicas: Map<string, number> | null;
}

export function emptyTables(): Tables {
  return { sandboxes: new Map(), snapshots: new Map(), answers: new Map(), held: new Map(), replicas: null };
}

export function memoryStore(tables: Tables = emptyTables()): Store {
  const of = <Row extends { ownerId: string | null }>(rows: Map<string, Row>, id: string) =>
    [...rows.values()].filter(({ ownerId }) => ownerId === id);
  const people = memoryPeople(
    (id) => ({
      sandboxes: of(tables.sandboxes, id).length,
      snapshots: of(tables.snapshots, id).length,
    }),
    (id, heirId) => {
      const active = of(tables.snapshots, id).filter(({ state }) => state === 'active');
      const boxes = sameNames('sandbox', of(tables.sandboxes, id), of(tables.sandboxes, heirId));
      return [...boxes, ...sameNames('snapshot', active, of(tables.snapshots, heirId))];
    },
  );
  const { webhooks, sandboxesHeard, snapshotsHeard, waysHeard } = memoryWebhooks(tables, people.users);
  const secrets = memorySecrets(tables.sandboxes);
  const ownerNetworks = memoryOwnerNetworks(people, tables.sandboxes);
  const sandboxes = sandboxesHeard(memorySandboxes(tables).sandboxes);
  const steps = new Map<string, BuildStep>();
  const store: Store = {
    sandboxes,
    snapshots: snapshotsHeard(memorySnapshots(tables, steps).snapshots),
    webhooks,
    ...people,
    teams: withNetworks(withSecrets(people.teams, secrets), ownerNetworks),
    ownerNetworks,
    ...memoryEverybody(sandboxes, people.users, people.teams),
    ...memorySignIns(people),
    ...memoryDeviceSignIns(),
    ...memoryCredentials(people),
    ...memoryOAuth(people),
    ...memoryIdempotency(tables),
    ...memoryAccessTokens(sandboxes),
    ...memoryGitCredentials(sandboxes),
    ...memorySessions(sandboxes),
    ...memoryAudit(),
    registryCredentials: memoryRegistryCredentials(),
    secrets,
    serviceSecrets: memoryServiceSecrets(),
    ...memoryAuthorizations(),
    buildSteps: memoryBuildSteps(steps),
    replicas: createAlone(),
    ...memoryPendingAuthorizations(people),
    close: async () => {},
  };
  return { ...store, ...waysHeard(store) };
}

function sameNames(kind: string, some: { name: string }[], others: { name: string }[]): string[] {
  const known = new Set(others.map(({ name }) => name));
  return some.flatMap(({ name }) => (known.has(name) ? [`${kind} '${name}'`] : [])).sort();
}

/** Secrets go with the team that owns them. */
function withSecrets(teams: Store['teams'], secrets: Store['secrets']): Store['teams'] {
  return {
    ...teams,
    async remove(teamId) {
      const wasThere = await teams.remove(teamId);
      for (const { id } of wasThere ? await secrets.list(teamId) : []) await secrets.remove(id);
      return wasThere;
    },
  };
}

/** So do its networks. */
function withNetworks(teams: Store['teams'], networks: Store['ownerNetworks']): Store['teams'] {
  return {
    ...teams,
    async remove(teamId) {
      const wasThere = await teams.remove(teamId);
      if (wasThere) await networks.set(teamId, { usual: null, most: null });
      return wasThere;
    },
  };
}

/** A row is there for as long as its sandbox is. */
function memoryAccessTokens(sandboxes: SandboxStore): Pick<Store, 'accessTokens'> {
  let rows: AccessToken[] = [];
  const epochs = new Map<string, number>();
  const signing = new Map<string, number>();
  const tokens = new Map<string, number>();
  const open = new Map<string, PublicPorts>();
  const live = async () => {
    const ids = new Set((await sandboxes.all()).map(({ id }) => id));
    rows = rows.filter(({ sandboxId }) => ids.has(sandboxId));
    return rows;
  };
  return {
    accessTokens: {
      insert: async (token) => {
        if (!(await sandboxes.get(token.sandboxId))) throw notFound('sandbox', 'gone');
        rows.push(structuredClone({ ...token, hash: Buffer.from(token.hash) }));
      },
      byHash: async (kind, hash) => {
        const found = (await live()).find((row) => row.kind === kind && hash.equals(row.hash));
        return found ? { ...found, hash: Buffer.from(found.hash) } : null;
      },
      count: async (sandboxId, kind, now) =>
        (await live()).filter(
          (row) =>
            row.sandboxId === sandboxId &&
            row.kind === kind &&
            (row.expiresAt === null || row.expiresAt > now),
        ).length,
      prune: async (now) => {
        rows = rows.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
      },
      revoke: async (sandboxId, kinds, now) => {
        const revoked = { ssh: 0, preview: 0 };
        for (const row of await live()) {
          if (row.sandboxId !== sandboxId || !kinds.includes(row.kind)) continue;
          if (row.expiresAt === null || row.expiresAt > now) revoked[row.kind] += 1;
        }
        rows = rows.filter((row) => row.sandboxId !== sandboxId || !kinds.includes(row.kind));
        if (kinds.includes('token')) tokens.set(sandboxId, (tokens.get(sandboxId) ?? 0) + 1);
        if (kinds.includes('preview')) epochs.set(sandboxId, (epochs.get(sandboxId) ?? 0) + 1);
        if (kinds.includes('preview')) open.delete(sandboxId);
        return revoked;
      },
      remove: async (sandboxId, hash) => {
        const found = (await live()).find((row) => row.sandboxId === sandboxId && hash.equals(row.hash));
        rows = rows.filter((row) => row !== found);
        return found ? { ...found, hash: Buffer.from(found.hash) } : null;
      },
      previewEpoch: async (sandboxId) =>
        (await sandboxes.get(sandboxId)) ? (epochs.get(sandboxId) ?? 0) : 0,
      signingEpoch: async (sandboxId) => {
        const of = async (epoch: Map<string, number>) =>
          (await sandboxes.get(sandboxId)) ? (epoch.get(sandboxId) ?? 0) : 0;
        return `${await of(epochs)} ${await of(signing)}`;
      },
      raiseSigningEpoch: async (sandboxId) => {
        if (await sandboxes.get(sandboxId)) signing.set(sandboxId, (signing.get(sandboxId) ?? 0) + 1);
      },
      tokenEpoch: async (sandboxId) => ((await sandboxes.get(sandboxId)) ? (tokens.get(sandboxId) ?? 0) : 0),
      publicPorts: async (sandboxId) => ((await sandboxes.get(sandboxId)) ? (open.get(sandboxId) ?? []) : []),
      setPublicPorts: async (sandboxId, ports) => {
        if (await sandboxes.get(sandboxId)) open.set(sandboxId, ports);
      },
    },
  };
}

function memorySandboxes({ sandboxes: rows, snapshots, replicas }: Tables): Pick<Store, 'sandboxes'> {
  const sorted = () => [...rows.values()].sort(byAge);
  const page = (afterId: string, limit: number, wanted: (row: Sandbox) => boolean = () => true) =>
    [...rows.values()]
      .filter((row) => row.id > afterId && wanted(row))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  const visible = (ownerId: string) =>
    sorted().filter((row) => row.ownerId === ownerId && row.operation !== 'creating');
  const ready = () =>
    sorted().filter((row) => row.ownerId === null && row.operation === null && row.state === 'started');

  const save = (row: Sandbox, allowance?: Allowance) => {
    for (const other of rows.values()) {
      if (row.ownerId === null || other.id === row.id) continue;
      if (other.ownerId === row.ownerId && other.name === row.name) {
        throw new SandhavenError('already_exists', 'taken', { parameter: 'name' });
      }
    }
    if (allowance) {
      const { ownerId, quota } = allowance;
      const before = { ...usageOf(rows.values(), ownerId, snapshots.values()), snapshots: 0 };
      const others = [...rows.values()].filter(({ id }) => id !== row.id);
      const after = { ...usageOf([...others, row], ownerId, snapshots.values()), snapshots: 0 };
      assertWithinQuota(quota, before, after);
    }
    rows.set(row.id, structuredClone(row));
  };
  const change = (
    id: string,
    generation: number,
    patch: SandboxPatch,
    allowance?: Allowance,
    unusedSince = Number.MAX_SAFE_INTEGER,
  ): Sandbox | null => {
    const row = rows.get(id);
    if (row && row.lastActivityAt > unusedSince) return null;
    if (row?.generation !== generation || (isLeft(row) && patch.generation === undefined)) return null;
    save({ ...row, ...patch }, allowance);
    return structuredClone(rows.get(id) ?? null);
  };

  /** Left by a replica that was given up: only a new generation may go on. */
  const isLeft = ({ holder }: Sandbox) => holder !== null && replicas?.has(holder) === false;

  const sandboxes: SandboxStore = {
    insert: async (sandbox, allowance) => save(sandbox, allowance),
    get: async (id) => structuredClone(rows.get(id) ?? null),
    reread: async (id) => structuredClone(rows.get(id) ?? null),
    find: async (ownerId, idOrName) => {
      const key = idOrName.startsWith('sb_') ? 'id' : 'name';
      return structuredClone(visible(ownerId).find((row) => row[key] === idOrName) ?? null);
    },
    list: async ({ ownerId, state, labels = {} }, { page, pageSize }) => {
      const matching = visible(ownerId)
        .filter((row) => state === undefined || row.state === state)
        .filter((row) => Object.entries(labels).every(([key, value]) => row.labels[key] === value))
        .reverse();
      return {
        sandboxes: structuredClone(matching.slice((page - 1) * pageSize, page * pageSize)),
        totalCount: matching.length,
      };
    },
    names: async (ownerId, limit) =>
      visible(ownerId)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit)
        .map(({ id, name }) => ({ id, name })),
    createdUnder: async (ownerId, creationKey, since) =>
      structuredClone(
        visible(ownerId)
          .reverse()
          .find((row) => row.creationKey === creationKey && row.createdAt >= since) ?? null,
      ),
    all: async () => structuredClone(sorted()),
    comparable: async (afterId, limit) =>
      page(afterId, limit).map((row) => ({
        id: row.id,
        state: row.state,
        stateReason: row.stateReason,
        operation: row.operation,
        ownerId: row.ownerId,
        imageDigest: row.imageDigest,
        generation: row.generation,
        runGeneration: row.runGeneration,
        network: row.network,
        secretIds: row.secretIds,
      })),
    inProgress: async (afterId, limit) =>
      page(afterId, limit, ({ operation }) => operation !== null).map(
        ({ id, operation, holder, generation }) => ({ id, operation, holder, generation }),
      ),
    schedulable: async () =>
      sorted()
        .filter((row) => row.ownerId !== null && row.operation === null)
        .map((row) => ({
          id: row.id,
          ownerId: row.ownerId,
          state: row.state,
          operation: row.operation,
          autoStopMinutes: row.autoStopMinutes,
          autoArchiveMinutes: row.autoArchiveMinutes,
          autoDeleteMinutes: row.autoDeleteMinutes,
          ...{ deadline: row.deadline, sleep: row.sleep },
          lastActivityAt: row.lastActivityAt,
          stoppedAt: row.stoppedAt,
        })),
    archives: async (afterId, limit) =>
      sorted()
        .flatMap(({ id, archive }) =>
          archive !== null && id > afterId ? [{ id, archive: { ...archive } }] : [],
        )
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    pool: async () => structuredClone(ready()),
    claim: async ({ imageDigest, diskGb }, patch, allowance) => {
      const found = ready().find((row) => row.imageDigest === imageDigest && row.resources.disk === diskGb);
      if (!found) return null;
      const claimed = { ...patch, generation: found.generation + 1 };
      return change(found.id, found.generation, claimed, allowance);
    },
    update: async (...given) => change(...given),
    usage: async (ownerId) => usageOf(rows.values(), ownerId, snapshots.values()),
    promisedDiskGb: async () => promisedDiskGbOf([...rows.values()]),
    remove: async (id, generation) => {
      const row = rows.get(id);
      return row?.generation === generation && !isLeft(row) && rows.delete(id);
    },
    touch: async (activity) => {
      for (const [id, at] of activity) {
        const row = rows.get(id);
        if (row && row.lastActivityAt < at) rows.set(id, { ...row, lastActivityAt: at });
      }
    },
  };
  return { sandboxes };
}

function memorySnapshots(
  { sandboxes, snapshots: rows }: Tables,
  steps: ReadonlyMap<string, BuildStep>,
): Pick<Store, 'snapshots'> {
  const newestFirst = () =>
    [...rows.values()]
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .map((row) => structuredClone(row));
  const of = (ownerId: string) => newestFirst().filter((row) => row.ownerId === ownerId);
  const used = (ownerId: string, all: Snapshot[] = [...rows.values()]) => ({
    ...usageOf(sandboxes.values(), ownerId, all),
    snapshots: all.filter((row) => row.ownerId === ownerId).length,
  });
  const snapshots: SnapshotStore = {
    insert: async (snapshot, allowance, replacedId) => {
      if (replacedId !== undefined) rows.delete(replacedId);
      const known = of(snapshot.ownerId).find(({ name }) => name === snapshot.name);
      if (known && known.state !== 'error') {
        throw new SandhavenError('already_exists', 'taken', { parameter: 'name' });
      }
      if (allowance) {
        const others = [...rows.values()].filter(({ id }) => id !== known?.id);
        assertWithinQuota(
          allowance.quota,
          used(allowance.ownerId),
          used(allowance.ownerId, [...others, snapshot]),
        );
      }
      if (known) rows.delete(known.id);
      rows.set(snapshot.id, structuredClone(snapshot));
    },
    find: async (ownerId, idOrName) => {
      const key = idOrName.startsWith('snap_') ? 'id' : 'name';
      return of(ownerId).find((row) => row[key] === idOrName) ?? null;
    },
    createdUnder: async (ownerId, creationKey, since) =>
      of(ownerId).find((row) => row.creationKey === creationKey && row.createdAt >= since) ?? null,
    list: async (ownerId, { page, pageSize }) => ({
      snapshots: of(ownerId).slice((page - 1) * pageSize, page * pageSize),
      totalCount: of(ownerId).length,
    }),
    count: async (ownerId) => of(ownerId).length,
    unfinished: async () =>
      newestFirst()
        .reverse()
        .filter(({ state }) => state === 'pending' || state === 'pulling'),
    update: async (id, patch: SnapshotPatch) => {
      const row = rows.get(id);
      if (row?.state !== 'pending' && row?.state !== 'pulling') return null;
      rows.set(id, { ...row, ...patch });
      return structuredClone(rows.get(id) ?? null);
    },
    setNetwork: async (id, network, now) => {
      const row = rows.get(id);
      if (!row) return null;
      rows.set(id, { ...row, network: structuredClone(network), updatedAt: now });
      return structuredClone(rows.get(id) ?? null);
    },
    give: async (id, ownerId, now, allowance) => {
      const row = rows.get(id);
      if (row?.state !== 'active') return null;
      if (of(ownerId).some(({ name }) => name === row.name))
        throw new SandhavenError('already_exists', 'taken');
      if (allowance) {
        const others = [...rows.values()].filter((other) => other.id !== id);
        assertWithinQuota(allowance.quota, used(ownerId), used(ownerId, [...others, { ...row, ownerId }]));
      }
      rows.set(id, { ...row, ownerId, creationKey: null, updatedAt: now });
      return structuredClone(rows.get(id) ?? null);
    },
    withDisks: async () =>
      new Set([
        ...[...rows.values()].filter(({ source }) => source !== null).map(({ id }) => id),
        ...steps.keys(),
      ]),
    delete: async (id) => rows.delete(id),
    imagesInUse: async () => {
      const own = [...rows.values()].flatMap(({ imageDigest }) => imageDigest ?? []);
      return new Set([...own, ...[...sandboxes.values()].map(({ imageDigest }) => imageDigest)]);
    },
  };
  return { snapshots };
}

function memoryBuildSteps(steps: Map<string, BuildStep>): BuildStepStore {
  const of = (ownerId: string, key: string) =>
    [...steps.values()].find((step) => step.ownerId === ownerId && step.key === key) ?? null;
  return {
    async find(ownerId, key, now) {
      const step = of(ownerId, key);
      if (step) step.usedAt = now;
      return structuredClone(step);
    },
    async put(step) {
      const replaced = of(step.ownerId, step.key);
      if (replaced) steps.delete(replaced.captureId);
      steps.set(step.captureId, { ...step });
      return structuredClone(replaced);
    },
    list: async (ownerId) =>
      [...steps.values()]
        .filter((step) => step.ownerId === ownerId)
        .sort((a, b) => a.usedAt - b.usedAt || (a.captureId < b.captureId ? -1 : 1))
        .map((step) => ({ ...step })),
    all: async () => [...steps.values()].sort((a, b) => a.usedAt - b.usedAt).map((step) => ({ ...step })),
    remove: async (captureId) => steps.delete(captureId),
  };
}

function memoryIdempotency({ answers, held }: Tables): Pick<Store, 'idempotency'> {
  const slot = (ownerId: string, key: string) => JSON.stringify([ownerId, key]);
  return {
    idempotency: {
      get: async (ownerId, key) => {
        const found = answers.get(slot(ownerId, key));
        return found ? { requestDigest: found.requestDigest, result: found.result } : null;
      },
      put: async (ownerId, key, requestDigest, result, now) => {
        const at = slot(ownerId, key);
        if (!answers.has(at)) answers.set(at, { requestDigest, result, at: now });
        if (answers.size <= 4_096) return;
        const own = [...answers].filter(([of]) => JSON.parse(of)[0] === ownerId);
        for (const [oldest] of own.slice(0, Math.max(0, own.length - 4_096))) answers.delete(oldest);
      },
      hold: async (ownerId, key, replica, dead) => {
        const at = slot(ownerId, key);
        const holder = held.get(at);
        if (holder !== undefined && holder !== replica && holder !== dead) return holder;
        held.set(at, replica);
        return replica;
      },
      release: async (ownerId, key, replica) => {
        if (held.get(slot(ownerId, key)) === replica) held.delete(slot(ownerId, key));
      },
      prune: async (olderThan) => {
        for (const [at, answer] of answers) if (answer.at < olderThan) answers.delete(at);
      },
    },
  };
}

function memoryGitCredentials(sandboxes: SandboxStore): Pick<Store, 'gitCredentials'> {
  const rows = new Map<string, GitCredential>();
  const slot = (sandboxId: string, url: string) => JSON.stringify([sandboxId, url]);
  const ofLiving = async (sandboxId: string) =>
    (await sandboxes.get(sandboxId)) ? [...rows.values()].filter((row) => row.sandboxId === sandboxId) : [];
  return {
    gitCredentials: {
      put: async (credential) => {
        const { sandboxId, url } = credential;
        if (!(await sandboxes.get(sandboxId))) throw new SandhavenError('not_found', 'gone');
        const isNew = !rows.has(slot(sandboxId, url));
        if (isNew && (await ofLiving(sandboxId)).length >= limits.git.credentials) {
          throw new SandhavenError('resource_exhausted', 'full');
        }
        rows.set(slot(sandboxId, url), { ...credential });
      },
      get: async (sandboxId, url) => (await ofLiving(sandboxId)).find((row) => row.url === url) ?? null,
      count: async (sandboxId) => (await ofLiving(sandboxId)).length,
      remove: async (sandboxId) => {
        for (const [at, row] of rows) if (row.sandboxId === sandboxId) rows.delete(at);
      },
    },
  };
}

function byAge(a: Sandbox, b: Sandbox): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
