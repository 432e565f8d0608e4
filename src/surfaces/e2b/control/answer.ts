/** Sandboxes as E2B's clients read them, and the times of their end. */
import { type SandboxView, toSandboxView } from '../../../catalog/base/sandbox-view.ts';
import type { SeenSandbox } from '../../../model/sandbox.ts';
import { hasScope, isViewer } from '../../../model/scopes.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';
import { shortId, wholeId } from '../base/address.ts';

/** Version of the service inside that clients take this for: it decides which calls they make. */
const ENVD_VERSION = '0.6.4';
/** Some generations need one, and none uses it. */
const CLIENT_ID = 'sandhaven';
const MB_OF_GB = 1_024;
/** Label of a sandbox that is not deleted at its end; clients are not shown it. */
const END_LABEL = 'e2b-on-timeout';
/** Action at the end, by the value of the label: a pause with memory is sleep, and one without a stop. */
const ends: Record<string, 'sleep' | 'stop'> = { pause: 'sleep', stop: 'stop' };
/** End of a sandbox without one, which clients do not know. */
const NEVER = '2099-12-31T23:59:59.000Z';

type Result = Record<string, unknown>;

/** @param reference By default the one in the path. */
export async function shown(call: Call, reference = idIn(call)): Promise<SandboxView> {
  return (await call.tool('Sandbox.GetSandbox', { sandbox: reference })) as unknown as SandboxView;
}

export function idIn({ params }: Call): string {
  return wholeId(params['sandbox'] ?? '');
}

/** Answer to a creation and a connection: all that a client needs to work inside, for who may do so. */
export async function startedAnswer(call: Call, view: SandboxView): Promise<Result> {
  const { services, request } = call;
  const { caller } = request;
  const site = services.previews.site;
  const mayWork = hasScope(caller, 'sandboxes:write') && !isViewer(caller);
  const token = mayWork ? await services.sandboxTokens.standing(caller, view.id) : null;
  return {
    ...{ templateID: view.snapshot ?? 'base', sandboxID: shortId(view.id), clientID: CLIENT_ID },
    envdVersion: ENVD_VERSION,
    ...(token === null ? {} : { envdAccessToken: token, trafficAccessToken: token }),
    domain: site && (site.port === standardPort(site.protocol) ? site.domain : `${site.domain}:${site.port}`),
  };
}

function standardPort(protocol: string): number {
  return protocol === 'https' ? 443 : 80;
}

export function infoOf(view: SandboxView): Result {
  const { cpu, memory, disk } = view.resources;
  return {
    ...{ templateID: view.snapshot ?? 'base', sandboxID: shortId(view.id), clientID: CLIENT_ID },
    ...{
      state: isPaused(view) ? 'paused' : 'running',
      startedAt: view.created_at,
      endAt: view.deadline_at ?? NEVER,
    },
    ...{ cpuCount: cpu, memoryMB: memory * MB_OF_GB, diskSizeMB: disk * MB_OF_GB },
    ...{ metadata: metadataOf(view), envdVersion: ENVD_VERSION, volumeMounts: [] },
  };
}

export function recordInfo(sandbox: SeenSandbox): Result {
  return infoOf(toSandboxView(sandbox));
}

/** One that sleeps, or was stopped and may be started. */
export function isPaused({ state, asleep_since }: SandboxView): boolean {
  return state !== 'started' || asleep_since !== undefined;
}

/** Labels of a sandbox with this metadata. */
export function labelsOf({ metadata, autoPause, autoPauseMemory }: Result): Result {
  const end = autoPause === true && { [END_LABEL]: autoPauseMemory === false ? 'stop' : 'pause' };
  return { ...(metadata as object), ...end };
}

function metadataOf({ labels }: SandboxView): Record<string, string> {
  const { [END_LABEL]: _, ...metadata } = labels;
  return metadata;
}

/** Returns the action at the sandbox's end. */
export function endOf({ labels }: SandboxView): 'sleep' | 'stop' | 'delete' {
  return ends[labels[END_LABEL] ?? ''] ?? 'delete';
}

/** Ends the sandbox after so many seconds from now, in the way that it was made for; 0 at once, as there. */
export async function endAfter(call: Call, view: SandboxView, seconds: number): Promise<void> {
  const sandbox = view.id;
  const action = endOf(view);
  if (seconds > 0) await call.action('SetSandboxDeadline', { sandbox, seconds, action });
  else if (action === 'delete') await call.tool('Sandbox.DeleteSandbox', { sandbox });
  else await pauseNow(call, sandbox, action === 'sleep');
}

/** Pauses by sleep, or without memory by a stop. */
export async function pauseNow(call: Call, sandbox: string, keepsMemory: boolean): Promise<void> {
  if (keepsMemory) await call.action('PauseSandbox', { sandbox });
  else await call.tool('Sandbox.StopSandbox', { sandbox });
}

/** Moves the end later, never earlier. */
export async function endNoEarlier(call: Call, view: SandboxView, seconds: unknown): Promise<void> {
  if (typeof seconds !== 'number' || view.deadline_at === undefined) return;
  if (Date.parse(view.deadline_at) < Date.now() + seconds * 1_000) await endAfter(call, view, seconds);
}
