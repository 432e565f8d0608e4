/** The sandbox that the demo database runs in: made where there is none, started where it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from '../catalog/sandboxes/create-sandbox.ts';
import { getSandbox } from '../catalog/sandboxes/get-sandbox.ts';
import { deleteSandbox, startSandbox } from '../catalog/sandboxes/lifecycle.ts';
import { createSnapshot } from '../catalog/snapshots/create-snapshot.ts';
import { getSnapshot } from '../catalog/snapshots/get-snapshot.ts';
import type { Tool } from '../catalog/tool.ts';
import { type Problem, SandhavenError } from '../model/errors.ts';
import type { Client } from '../surfaces/cli/client.ts';
import { environmentOf, newPasswords, type Passwords, passwordsIn, type ServerKind } from './server.ts';

export const SANDBOX = 'demo-db';

const LABEL = 'sandhaven.demo-db';
const SIZES = { cpu: 2, memory: 2, disk: 20 };
const POLL_MS = 300;

export interface DemoSandbox {
  id: string;
  passwords: Passwords;
}

export interface Steps {
  signal: AbortSignal;
  say(step: string): void;
}

/** Fails with what the service says, and with `already_exists` for a sandbox of that name that is somebody's own. */
export async function ensureSandbox(
  client: Client,
  kind: () => Promise<ServerKind>,
  steps: Steps,
): Promise<DemoSandbox> {
  const found = await client(getSandbox, { sandbox: SANDBOX, include_raw_env_vars: true });
  if (found.result) return await wake(client, found.result, steps);
  if (found.problem.code !== 'not_found') throw failure(found.problem);
  const server = await kind();
  await ensureSnapshot(client, server, steps);
  steps.say('creating the sandbox');
  const passwords = newPasswords();
  const created = await must(client, createSandbox, {
    name: SANDBOX,
    snapshot: server.snapshot,
    env_vars: environmentOf(passwords),
    labels: { [LABEL]: server.image },
    auto_stop_minutes: 0,
  });
  return { id: String(created['id']), passwords };
}

/** @returns false when there is none. */
export async function removeSandbox(client: Client): Promise<boolean> {
  const found = await client(getSandbox, { sandbox: SANDBOX });
  if (found.problem?.code === 'not_found') return false;
  if (found.problem) throw failure(found.problem);
  refuseOthers(found.result);
  await must(client, deleteSandbox, { sandbox: found.result['id'] });
  return true;
}

/** What image it was made from. */
export function imageOf(sandbox: Record<string, unknown>): string | undefined {
  return (sandbox['labels'] as Record<string, string> | undefined)?.[LABEL];
}

async function wake(client: Client, sandbox: Record<string, unknown>, steps: Steps): Promise<DemoSandbox> {
  refuseOthers(sandbox);
  const passwords = passwordsIn(sandbox['env_vars']);
  if (!passwords) throw somebodyElses();
  if (sandbox['state'] !== 'started') {
    steps.say('starting the sandbox');
    await must(client, startSandbox, { sandbox: sandbox['id'] });
  }
  return { id: String(sandbox['id']), passwords };
}

async function ensureSnapshot(client: Client, server: ServerKind, { say, signal }: Steps): Promise<void> {
  const { snapshot, image, entrypoint } = server;
  const made = await client(createSnapshot, { name: snapshot, image, entrypoint, resources: SIZES });
  if (made.problem && made.problem.code !== 'already_exists') throw failure(made.problem);
  for (let shown = ''; ; await sleep(POLL_MS, undefined, { signal })) {
    const { state, state_reason: reason } = await must(client, getSnapshot, { snapshot });
    if (state === 'active') return;
    if (state === 'error') {
      throw new SandhavenError('unavailable', `The image '${image}' cannot be had: ${reason}`, {
        hint: 'Correct what it names, then call again.',
      });
    }
    if (state !== shown) say(`fetching the image '${image}'`);
    shown = String(state);
  }
}

function refuseOthers(sandbox: Record<string, unknown>): void {
  if (imageOf(sandbox) === undefined) throw somebodyElses();
}

function somebodyElses(): SandhavenError {
  return new SandhavenError('already_exists', `The sandbox '${SANDBOX}' was not made by this command.`, {
    hint: 'Delete it, or give it another name, then call again.',
  });
}

async function must(
  client: Client,
  tool: Tool,
  parameters: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { result, problem } = await client(tool, parameters);
  if (problem) throw failure(problem);
  return result;
}

function failure({ code, detail, hint, parameter, resource, retryable }: Problem): SandhavenError {
  return new SandhavenError(code, detail, {
    ...(hint === undefined ? {} : { hint }),
    ...(parameter === undefined ? {} : { parameter }),
    ...(resource === undefined ? {} : { resource }),
    retryable,
  });
}
