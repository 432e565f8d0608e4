/** Records to store, and folders to store them in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openNetwork } from '../../src/model/network/setting.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { Account } from '../../src/model/user.ts';

export const alice: Account = {
  id: 'user_alice',
  name: 'Alice',
  email: 'alice@example.org',
  role: 'admin',
  createdAt: 1,
  disabledAt: null,
  quota: {},
};
export const bob: Account = {
  ...alice,
  id: 'user_bob',
  name: 'Bob',
  email: 'bob@example.org',
  role: 'member',
};

let made = 0;

export function sandboxId(number: number): string {
  return `sb_${number.toString(36).padStart(16, '0')}`;
}

/** A started sandbox of Alice with an id and a name of its own. */
export function sandboxRecord(overrides: Partial<Sandbox> = {}): Sandbox {
  const id = overrides.id ?? sandboxId(++made);
  return {
    id,
    ownerId: alice.id,
    name: `box ${id}`,
    state: 'started',
    operation: null,
    holder: null,
    stateReason: null,
    generation: 1,
    runGeneration: 1,
    language: 'python',
    snapshot: null,
    image: 'base',
    imageDigest: 'sha256:base',
    entrypoint: null,
    resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
    resizeTarget: null,
    rollbackTo: null,
    labels: {},
    envVars: {},
    user: null,
    network: openNetwork,
    secretIds: [],
    imageConfig: null,
    autoStopMinutes: 15,
    autoArchiveMinutes: 10_080,
    autoDeleteMinutes: -1,
    ...{ deadline: null, sleep: null },
    ephemeral: false,
    regionId: 'local',
    archive: null,
    creationKey: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    lastActivityAt: 1_000,
    startedAt: 1_000,
    stoppedAt: null,
    archivedAt: null,
    ...overrides,
  };
}

/** One that waits in the warm pool. */
export function poolRecord(overrides: Partial<Sandbox> = {}): Sandbox {
  const record = sandboxRecord(overrides);
  return { ...record, ownerId: null, name: record.id };
}

/** Removed when the test ends. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'sandhaven-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
