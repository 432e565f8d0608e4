/**
 * A sandbox as Daytona's clients of all generations read it. Their Python models reject an answer without a required field, so
 * all of these are always there.
 */
import { type SandboxView, toNetworkView, toSandboxView } from '../../../catalog/base/sandbox-view.ts';
import type { NetworkSetting, Sandbox } from '../../../model/sandbox.ts';
import { ownerIdOf } from '../../../model/user.ts';
import type { DaytonaCall } from '../base/call.ts';
import { TOOLBOX } from '../base/route.ts';
import { networkLists } from './network.ts';
import { statesOf } from './states.ts';

/** A view with what GetSandbox alone shows. */
export type ShownSandbox = SandboxView & {
  network: NetworkSetting;
  env_vars: Record<string, string>;
  /** By the call that is being answered. */
  deleted?: boolean;
};

type Whose = Pick<DaytonaCall, 'request' | 'origin'>;

/** Linux user of a sandbox whose record names none. */
const ROOT = 'root';

export function toSandbox(view: ShownSandbox, call: Whose): Record<string, unknown> {
  return { ...toSandboxItem(view, call), env: view.env_vars };
}

/** Returns the answer without the environment, as the newest generation lists it. */
export function toSandboxItem(view: ShownSandbox, call: Whose): Record<string, unknown> {
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
    ...{ createdAt: view.created_at, updatedAt: view.updated_at, lastActivityAt: view.last_activity_at },
    toolboxProxyUrl: toolboxUrl(call),
    // What this service never has.
    ...{ public: false, kvm: false, volumes: [], backupState: 'None', sandboxClass: 'container' },
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
