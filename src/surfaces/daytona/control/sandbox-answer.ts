/**
 * The sandbox that a request is about, as Daytona's clients of all generations read it, before and after a tool has changed it.
 * Their Python models reject an answer without a required field, so all of these are always there.
 */
import { type SandboxView, toNetworkView, toSandboxView } from '../../../catalog/base/sandbox-view.ts';
import type { NetworkSetting, Operation, Sandbox, SandboxState } from '../../../model/sandbox.ts';
import { ownerIdOf } from '../../../model/user.ts';
import { type DaytonaCall, TOOLBOX } from '../base/call.ts';
import { networkLists } from './network.ts';

/** A view with what GetSandbox alone shows. */
export type ShownSandbox = SandboxView & {
  network: NetworkSetting;
  env_vars: Record<string, string>;
  /** By the call that is being answered. */
  deleted?: boolean;
};

type Whose = Pick<DaytonaCall, 'request' | 'origin' | 'services'>;

/** States that this service can answer with; those of pauses, snapshots and builds are not among them. */
type DaytonaState =
  | ('creating' | 'starting' | 'started' | 'stopping' | 'stopped' | 'resizing' | 'error')
  | ('archiving' | 'archived' | 'restoring' | 'destroying' | 'destroyed');

interface ShownStates {
  state: DaytonaState;
  /** State that the operation leads to; absent for one in error, which waits for a person. */
  desiredState?: 'started' | 'stopped' | 'archived' | 'resized' | 'destroyed';
}

/** @param reference By default the one in the path. */
export async function shown(call: DaytonaCall, reference = call.params['sandbox']): Promise<ShownSandbox> {
  const view = await call.tool('Sandbox.GetSandbox', { sandbox: reference, include_raw_env_vars: true });
  return view as unknown as ShownSandbox;
}

export async function answer(call: DaytonaCall, reference?: string): Promise<Record<string, unknown>> {
  return toSandbox(await shown(call, reference), call);
}

/**
 * Calls a tool that changes the sandbox, and answers it as it is then. No such tool shows the network and the environment, and
 * after a deletion nothing does, so these come from before.
 */
export async function changed(
  call: DaytonaCall,
  tool: string,
  parameters: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const before = await shown(call);
  const after = await call.tool(tool, { sandbox: before.id, ...parameters });
  // A view leaves out what there is none of.
  const { operation, state_reason, ...lasting } = before;
  return toSandbox({ ...lasting, ...after } as ShownSandbox, call);
}

/** Linux user of a sandbox whose record names none. */
const ROOT = 'root';

export async function toSandbox(view: ShownSandbox, call: Whose): Promise<Record<string, unknown>> {
  return { ...(await toSandboxItem(view, call)), env: view.env_vars };
}

/** Returns the answer without the environment, as the newest generation lists it. */
export async function toSandboxItem(view: ShownSandbox, call: Whose): Promise<Record<string, unknown>> {
  const { cpu, memory, disk, gpu } = view.resources;
  return {
    ...{ id: view.id, name: view.name, organizationId: ownerIdOf(call.request.caller) },
    ...(view.snapshot === null ? {} : { snapshot: view.snapshot }),
    ...{ user: view.user ?? ROOT, labels: view.labels, target: view.region_id },
    ...{ cpu, memory, disk, gpu },
    ...statesOf(view),
    ...(view.state_reason === undefined ? {} : { errorReason: view.state_reason }),
    recoverable: view.state === 'error' && !view.deleted,
    ...networkLists(view.network),
    autoStopInterval: view.auto_stop_minutes,
    autoArchiveInterval: view.auto_archive_minutes,
    autoDeleteInterval: view.ephemeral ? 0 : view.auto_delete_minutes,
    ...(view.deadline_action === 'delete' ? { autoDestroyAt: view.deadline_at } : {}),
    ...{ createdAt: view.created_at, updatedAt: view.updated_at, lastActivityAt: view.last_activity_at },
    toolboxProxyUrl: toolboxUrl(call),
    public: await call.services.publicPorts.isOpen(view.id),
    // What this service never has.
    ...{ kvm: false, volumes: [], backupState: 'None', sandboxClass: 'container' },
  };
}

export function recordToShown(sandbox: Sandbox): ShownSandbox {
  const network = toNetworkView(sandbox.network);
  return { ...toSandboxView(sandbox), network, env_vars: sandbox.envVars };
}

/** Clients add the sandbox's id, and old ones keep the address for a region, so none is in it. */
export function toolboxUrl({ origin }: Pick<Whose, 'origin'>): string {
  return `${origin}${TOOLBOX}`;
}

const inProgress: Record<Operation, ShownStates> = {
  creating: { state: 'creating', desiredState: 'started' },
  starting: { state: 'starting', desiredState: 'started' },
  restoring: { state: 'restoring', desiredState: 'started' },
  stopping: { state: 'stopping', desiredState: 'stopped' },
  archiving: { state: 'archiving', desiredState: 'archived' },
  resizing: { state: 'resizing', desiredState: 'resized' },
  deleting: { state: 'destroying', desiredState: 'destroyed' },
};

const settled: Record<SandboxState, ShownStates> = {
  started: { state: 'started', desiredState: 'started' },
  stopped: { state: 'stopped', desiredState: 'stopped' },
  archived: { state: 'archived', desiredState: 'archived' },
  error: { state: 'error' },
};

/**
 * Returns the states in the words of their clients, which know no others. An operation in progress says more than the last
 * settled state.
 */
export function statesOf(sandbox: {
  state: SandboxState;
  operation?: string | null | undefined;
  deleted?: boolean | undefined;
}): ShownStates {
  if (sandbox.deleted) return { state: 'destroyed', desiredState: 'destroyed' };
  return inProgress[sandbox.operation as Operation] ?? settled[sandbox.state];
}
