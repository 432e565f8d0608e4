/**
 * Manages the demo database's sandbox by the tools that every client has. Its passwords are kept in its environment
 * alone; the owner's key reads them from there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteSnapshot } from '../administration/sandboxes.ts';
import type { SandboxView } from '../catalog/base/sandbox-view.ts';
import type { Tool } from '../catalog/base/tool.ts';
import { createSandbox } from '../catalog/sandboxes/create-sandbox.ts';
import { deleteSandbox, startSandbox } from '../catalog/sandboxes/lifecycle.ts';
import { getSandbox } from '../catalog/sandboxes/views.ts';
import { createSnapshot } from '../catalog/snapshots/create-snapshot.ts';
import { getSnapshot, listSnapshots } from '../catalog/snapshots/snapshots.ts';
import { type Problem, SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AdminClient, CallOptions, Client } from '../surfaces/cli/client.ts';
import { ADMIN_PASSWORD, READER_PASSWORD, type ServerKind, serverKind } from './server-kind.ts';

export const SANDBOX = 'demo-db';
const POLL_MS = 250;
const RECIPE_CHARS = 12;

export interface Machine {
  id: string;
  adminPassword: string;
  readerPassword: string;
}

type SnapshotPage = { snapshots: { id: string; name: string; image: string }[]; total_pages: number };
type WithEnvironment = SandboxView & { env_vars: Record<string, string> };

export interface Steps {
  client: Client;
  administer: AdminClient;
  signal: AbortSignal;
  /** Shows the current step. */
  say(step: string): void;
  onProgress: NonNullable<CallOptions['onProgress']>;
  buildImage(): Promise<void>;
  /** Recipe digest of the image built here; null without one. */
  recipe(): Promise<string | null>;
}

/** Starts the sandbox, and creates it when missing. Rejects with `already_exists` when it is of another image. */
export async function startMachine(steps: Steps, kind: ServerKind | null, ifNew: ServerKind) {
  const found = await getMachine(steps);
  if (!found) await create(steps, ifNew);
  else if (kind && describe(found).image !== kind.image) throw otherImage(found, kind);
  else if (found.state !== 'started') {
    steps.say(`starting sandbox '${SANDBOX}'`);
    await must(steps, startSandbox, { sandbox: found.id });
  }
  const started = await getMachine(steps);
  if (started) return describe(started);
  throw new SandhavenError('not_found', `The sandbox '${SANDBOX}' was deleted meanwhile.`);
}

/**
 * Removes the sandbox and the snapshots that it and its predecessors were made from.
 * @returns the names of what existed. Rejects with `already_exists` for an unrelated sandbox of that name.
 */
export async function removeMachine(steps: Steps): Promise<string[]> {
  const removed: string[] = [];
  const found = await getMachine(steps);
  if (found) {
    const { machine } = describe(found);
    await must(steps, deleteSandbox, { sandbox: machine.id });
    removed.push(`sandbox '${SANDBOX}'`);
  }
  for (const { id, name } of await ownSnapshots(steps)) {
    const { problem } = await steps.administer(deleteSnapshot, { snapshot: id }, { signal: steps.signal });
    if (problem && problem.code !== 'not_found') throw asError(problem);
    removed.push(`snapshot '${name}'`);
  }
  return removed;
}

/** Matches name and image, so that no user's own snapshot is mistaken for one. */
async function ownSnapshots(steps: Steps): Promise<{ id: string; name: string }[]> {
  const own: { id: string; name: string }[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const result = await must(steps, listSnapshots, { page, page_size: limits.pageSize.max });
    const { snapshots, total_pages } = result as unknown as SnapshotPage;
    pages = total_pages;
    own.push(...snapshots.filter(({ name, image }) => isOwn(name, serverKind(image))));
  }
  return own;
}

function isOwn(name: string, { snapshot, builtIn }: ServerKind): boolean {
  return name === snapshot || (builtIn && name.startsWith(`${snapshot} `));
}

async function getMachine(steps: Steps): Promise<WithEnvironment | null> {
  const { client, signal } = steps;
  const parameters = { sandbox: SANDBOX, include_raw_env_vars: true };
  const { result, problem } = await client(getSandbox, parameters, { signal });
  if (problem && problem.code !== 'not_found') throw asError(problem);
  return result ? (result as unknown as WithEnvironment) : null;
}

function describe({ id, image, env_vars }: WithEnvironment): { machine: Machine; image: string } {
  const { [ADMIN_PASSWORD]: adminPassword, [READER_PASSWORD]: readerPassword } = env_vars;
  if (!adminPassword || !readerPassword || image === null) {
    throw new SandhavenError('already_exists', `The sandbox '${SANDBOX}' is no demo database.`, {
      hint: `Delete it with \`sandhaven rm ${SANDBOX}\`, then try again.`,
    });
  }
  return { machine: { id, adminPassword, readerPassword }, image };
}

async function create(steps: Steps, kind: ServerKind): Promise<void> {
  const snapshot = await ensureSnapshot(steps, kind);
  steps.say(`creating sandbox '${SANDBOX}'`);
  await must(steps, createSandbox, {
    name: SANDBOX,
    snapshot,
    auto_stop_minutes: 0,
    env_vars: kind.environment(),
  });
}

/** @returns its name. */
async function ensureSnapshot(steps: Steps, kind: ServerKind): Promise<string> {
  let name = await snapshotName(steps, kind);
  let reason = await makeSnapshot(steps, kind, name);
  if (reason !== null && kind.builtIn) {
    await steps.buildImage();
    name = await snapshotName(steps, kind);
    reason = await makeSnapshot(steps, kind, name);
  }
  if (reason === null) return name;
  throw new SandhavenError('failed_precondition', `The image '${kind.image}' cannot be used: ${reason}`, {
    hint: kind.builtIn
      ? 'It was built for this user on this machine; the service must run as that user and on that machine.'
      : 'Check its name; the service must reach its registry.',
  });
}

/** A snapshot keeps its image, so one of a new recipe needs another name. */
async function snapshotName({ recipe }: Steps, kind: ServerKind): Promise<string> {
  const key = kind.builtIn ? await recipe() : null;
  return key === null ? kind.snapshot : `${kind.snapshot} ${key.slice(0, RECIPE_CHARS)}`;
}

/** Returns the reason that it could not be made; null when it exists. */
async function makeSnapshot(steps: Steps, kind: ServerKind, name: string): Promise<string | null> {
  const { client, signal } = steps;
  steps.say(`getting the image '${kind.image}'`);
  const { image, entrypoint } = kind;
  const { problem } = await client(createSnapshot, { name, image, entrypoint }, { signal });
  if (problem?.code === 'unavailable') return problem.detail;
  if (problem && problem.code !== 'already_exists') throw asError(problem);
  return isActive(steps, kind, name);
}

/** Waits for it. Returns null once it is active, otherwise the reason that it is not. */
async function isActive(steps: Steps, kind: ServerKind, snapshot: string): Promise<string | null> {
  const deadline = performance.now() + limits.image.pullTimeoutMs;
  for (;;) {
    const { state, state_reason, image } = await must(steps, getSnapshot, { snapshot });
    if (image !== kind.image) throw otherSnapshot(snapshot, kind);
    if (state === 'active') return null;
    if (state === 'error') return String(state_reason ?? 'it could not be made.');
    if (performance.now() > deadline) return 'it was not ready in time.';
    await sleep(POLL_MS, undefined, { signal: steps.signal });
  }
}

async function must(
  { client, signal, onProgress }: Steps,
  tool: Tool,
  parameters: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  // A sandbox created for an interrupted command is left to the next command.
  const { result, problem } = await client(tool, parameters, { signal, onProgress });
  if (problem) throw asError(problem);
  return result;
}

function asError(problem: Problem): SandhavenError {
  return new SandhavenError(problem.code, problem.detail, problem);
}

function otherImage({ image }: SandboxView, kind: ServerKind): SandhavenError {
  return new SandhavenError('already_exists', `The demo database runs '${image}', not '${kind.image}'.`, {
    hint: 'Delete it first, with `sandhaven demo-db --remove`.',
  });
}

function otherSnapshot(snapshot: string, { image }: ServerKind): SandhavenError {
  return new SandhavenError('already_exists', `The snapshot '${snapshot}' is not of the image '${image}'.`, {
    hint: 'The name is taken by a snapshot of yours; use another key for the demo database.',
  });
}
