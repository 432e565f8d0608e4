/** View of a sandbox for callers, which most lifecycle tools return. */
import { z } from 'zod';
import { SandhavenError } from '../../model/errors.ts';
import { networkModes } from '../../model/network/setting.ts';
import {
  type Deadline,
  deadlineActions,
  languages,
  type NetworkSetting,
  type Sandbox,
  type SeenSandbox,
  sandboxStates,
} from '../../model/sandbox.ts';
import type { Secret } from '../../model/secrets/secret.ts';
import type { Caller } from '../../model/user.ts';

/**
 * Marks keys that every answer has, but MCP's list shows only for the tools about them: the record would stand there
 * eight times.
 */
const unlisted = { unlisted: true };

const resourcesOutput = z.looseObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() });
const labelsOutput = z.record(z.string(), z.string());

/** Network as it is meant; the installation's ceiling may allow less. */
export const networkOutput = z.looseObject({
  mode: z.enum(networkModes),
  profiles: z.array(z.string()),
  allow: z.array(z.string()),
});

/** Secrets by their names, and the variables that hold their placeholders inside. */
const secretsOutput = z.array(z.looseObject({ name: z.string(), variable: z.string() }));

export const sandboxOutput = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(sandboxStates),
  status: z.enum(sandboxStates).meta(unlisted),
  operation: z.string().optional().meta(unlisted),
  state_reason: z.string().optional().meta(unlisted),
  language: z.enum(languages).meta(unlisted),
  snapshot: z.string().nullable().meta(unlisted),
  image: z.string().nullable().meta(unlisted),
  resources: resourcesOutput.meta(unlisted),
  labels: labelsOutput.meta(unlisted),
  auto_stop_minutes: z.int().meta(unlisted),
  auto_archive_minutes: z.int().meta(unlisted),
  auto_delete_minutes: z.int().meta(unlisted),
  deadline_at: z.string().optional().meta(unlisted),
  ephemeral: z.boolean().meta(unlisted),
  user: z.string().optional().meta(unlisted).describe('User of calls that name none; absent for root.'),
  region_id: z.string().meta(unlisted),
  created_at: z.string().meta(unlisted),
  updated_at: z.string().meta(unlisted),
  last_activity_at: z.string().meta(unlisted),
  started_at: z.string().nullable().meta(unlisted),
  stopped_at: z.string().nullable().meta(unlisted),
  archived_at: z.string().nullable().meta(unlisted),
  network: networkOutput.optional().meta(unlisted).describe('CreateSandbox and GetSandbox only.'),
  secrets: secretsOutput.optional().meta(unlisted).describe('CreateSandbox and GetSandbox only.'),
});

/** Output after a change of the resources, and of the labels. */
export const sizedOutput = sandboxOutput.extend({ resources: resourcesOutput });
export const labelledOutput = sandboxOutput.extend({ labels: labelsOutput });

/** Output of the tool that shows a sandbox. Others have its last keys too, which cost their schemas too much. */
export const shownOutput = sandboxOutput.extend({
  operation: z.string().optional(),
  state_reason: z.string().optional(),
  resources: resourcesOutput,
  labels: labelsOutput,
  deadline_action: z.enum(deadlineActions).optional().meta(unlisted),
  asleep_since: z.string().optional().meta(unlisted),
});

export type SandboxView = z.output<typeof sandboxOutput> & {
  deadline_action?: Deadline['action'];
} & SleepView;

/** Of a sandbox that sleeps, and of one with settings of sleep. Schemas have no room for these. */
export interface SleepView {
  asleep_since?: string;
  sleep_after_seconds?: number;
  wake?: boolean;
}

export function toSandboxView(sandbox: SeenSandbox): SandboxView {
  return {
    id: sandbox.id,
    name: sandbox.name,
    state: sandbox.state,
    status: sandbox.state,
    ...(sandbox.operation === null ? {} : { operation: sandbox.operation }),
    ...(sandbox.stateReason === null ? {} : { state_reason: sandbox.stateReason }),
    language: sandbox.language,
    snapshot: sandbox.snapshot,
    image: sandbox.image,
    resources: { ...sandbox.resources },
    labels: sandbox.labels,
    auto_stop_minutes: sandbox.autoStopMinutes,
    auto_archive_minutes: sandbox.autoArchiveMinutes,
    auto_delete_minutes: sandbox.autoDeleteMinutes,
    ...toDeadlineView(sandbox),
    ...toSleepView(sandbox),
    ephemeral: sandbox.ephemeral,
    ...(sandbox.user === null ? {} : { user: sandbox.user }),
    region_id: sandbox.regionId,
    created_at: timestamp(sandbox.createdAt),
    updated_at: timestamp(sandbox.updatedAt),
    last_activity_at: timestamp(sandbox.lastActivityAt),
    started_at: timestampOrNull(sandbox.startedAt),
    stopped_at: timestampOrNull(sandbox.stoppedAt),
    archived_at: timestampOrNull(sandbox.archivedAt),
  };
}

export function toDeadlineView({ deadline }: Pick<Sandbox, 'deadline'>): {
  deadline_at?: string;
  deadline_action?: Deadline['action'];
} {
  return deadline ? { deadline_at: timestamp(deadline.at), deadline_action: deadline.action } : {};
}

export function toSleepView({
  sleep,
  asleepSince = null,
}: Pick<SeenSandbox, 'sleep' | 'asleepSince'>): SleepView {
  return {
    ...(asleepSince === null ? {} : { asleep_since: timestamp(asleepSince) }),
    ...(sleep === null || sleep.afterSeconds === null ? {} : { sleep_after_seconds: sleep.afterSeconds }),
    ...(sleep?.wakes ? { wake: true } : {}),
  };
}

export function toNetworkView({ mode, profiles, allow }: NetworkSetting): z.output<typeof networkOutput> {
  return { mode, profiles, allow };
}

export function toSecretsView(secrets: readonly Secret[]): z.output<typeof secretsOutput> {
  return secrets.map(({ name, variable }) => ({ name, variable }));
}

/** Returns one line for people, with the sandbox's origin and settings. */
export function sandboxText(view: SandboxView): string {
  const { auto_stop_minutes: stop, auto_archive_minutes: archive, auto_delete_minutes: remove } = view;
  const source = view.snapshot === null ? `image ${view.image}` : `snapshot ${view.snapshot}`;
  const auto = `auto_stop_minutes ${stop}, auto_archive_minutes ${archive}, auto_delete_minutes ${remove}`;
  const end = view.deadline_at ? `, deadline ${view.deadline_at} (${view.deadline_action})` : '';
  const rest = `${view.ephemeral ? ', ephemeral' : ''}${view.user ? `, Linux user ${view.user}` : ''}`;
  return `${sandboxLine(view)} From ${source}; ${auto}${end}${rest}.`;
}

/** Returns the line of a sandbox in a list. */
export function sandboxLine(view: SandboxView): string {
  const { cpu, memory, disk, gpu } = view.resources;
  const size = `${cpu} vCPU, ${memory} GB memory, ${disk} GB disk${gpu > 0 ? `, ${gpu} GPU` : ''}`;
  const aside = view.operation ?? (view.asleep_since ? 'asleep' : null);
  const state = aside ? `${view.state} (${aside})` : view.state;
  const labels = Object.entries(view.labels).map(([key, value]) => `${key}=${value}`);
  const labelled = labels.length > 0 ? ` Labels: ${labels.join(', ')}.` : '';
  const reason = view.state_reason ? ` Reason: ${view.state_reason}` : '';
  return `Sandbox '${view.name}' (${view.id}) is ${state}: ${view.language}, ${size}.${labelled}${reason}`;
}

/** Returns the time as RFC 3339, UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

// Tokens of one sandbox open work inside it, and its previews.

/** Tools and administration actions by name; nothing else is open. */
const open: ReadonlySet<string> = new Set([
  ...[
    'Sandbox.ListFiles',
    'Sandbox.FindFiles',
    'Sandbox.GetFileInfo',
    'Sandbox.ReadFile',
    'Sandbox.WriteFile',
  ],
  ...['Sandbox.CreateFolder', 'Sandbox.MoveFile', 'Sandbox.DeleteFile'],
  ...['Sandbox.SearchContent', 'Sandbox.ReplaceInFiles', 'GetFileDetails', 'SetFileAttributes'],
  ...['Sandbox.RunCode', 'Sandbox.RunCommand', 'Sandbox.RunInContext'],
  ...['CreateContext', 'ListContexts', 'InterruptContext', 'RestartContext', 'DeleteContext'],
  ...['Sandbox.CreateSession', 'Sandbox.ListSessions', 'Sandbox.RunSessionCommand'],
  ...['Sandbox.GetSessionCommandLogs', 'Sandbox.SendSessionInput', 'DeleteSession'],
  ...['StartProcess', 'ListProcesses', 'SendProcessInput', 'SignalProcess', 'ResizeProcess', 'EndProcess'],
  ...['ListTerminals', 'EndTerminal'],
  ...['Sandbox.ListPorts', 'Sandbox.GetPortPreviewUrl', 'GetFilePreviewUrl'],
]);

/** Throws `permission_denied` for a caller whose token opens one sandbox, where that is not enough. */
export function assertOpen({ only }: Pick<Caller, 'only'>, name: string): void {
  if (only === undefined || open.has(name)) return;
  throw refusedToTokens(name);
}

/** @param what Subject of the sentence. */
export function refusedToTokens(what: string): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `${what} is closed to tokens of one sandbox: they open its files, programs and previews.`,
    { hint: 'Use an API key.' },
  );
}
