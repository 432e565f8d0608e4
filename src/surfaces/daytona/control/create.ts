/** POST /sandbox: a sandbox that is started when the answer comes, so that clients of all generations wait for nothing. */
import { withoutUndefined } from '../../../catalog/base/tool.ts';
import { createSandboxInput } from '../../../catalog/sandboxes/create-sandbox.ts';
import { validateInput } from '../../../catalog/validate.ts';
import { type DaytonaCall, type DaytonaRoute, defined } from '../base/call.ts';
import { alreadyThere, assertNone, isAsked, NotHere, unlessMissing } from '../base/errors.ts';
import { type AskedBuild, buildIn, buildSandbox } from './builds.ts';
import { askedNetwork } from './network.ts';
import { shown, toSandbox } from './sandbox-answer.ts';
import { secretsFor } from './secrets.ts';

export const createRoutes: readonly DaytonaRoute[] = [{ method: 'POST', path: '/sandbox', handler: create }];

/** Clients choose what RunCode runs by this label. */
const LANGUAGE_LABEL = 'code-toolbox-language';

/** Linux user that programs of Daytona's users expect. */
const USUAL_USER = 'daytona';

const NEVER = -1;

const known = new Set([
  ...['name', 'snapshot', 'user', 'env', 'labels', 'cpu', 'gpu', 'memory', 'disk', 'buildInfo', 'secrets'],
  ...['autoStopInterval', 'autoArchiveInterval', 'autoDeleteInterval', 'ttlMinutes'],
  ...['public', 'networkBlockAll', 'networkAllowList', 'domainAllowList'],
  // Ignored: there is one region, one kind of GPU, nobody is evicted, nothing queues, and no telemetry leaves.
  ...['target', 'gpuType', 'spot', 'queueTimeout', 'otelEndpointOverride'],
]);

const refusals = {
  volumes: 'There are no volumes here.',
  autoPauseInterval: 'A sandbox cannot be paused here; autoStopInterval stops it.',
  linkedSandbox: 'Sandboxes do not reach each other here.',
  outboundProxyUrl: 'No traffic goes through a proxy here; domainAllowList says what a sandbox reaches.',
  kvm: 'Sandboxes have no /dev/kvm here.',
};

async function create(call: DaytonaCall): Promise<Record<string, unknown>> {
  const { body } = call;
  assertNone(body, refusals);
  if (isAsked(body['public'])) assertMayBePublic(call);
  const unknown = Object.keys(body).find((name) => !known.has(name) && isAsked(body[name]));
  if (unknown !== undefined) throw new NotHere(`A creation has no ${unknown} here.`);
  const build = buildIn(body['buildInfo']);
  const { labels } = body;
  const { cpu, memory, disk, gpu } = body;
  const asked = defined({
    name: body['name'],
    ...{ snapshot: given(body['snapshot']), user: given(body['user']) },
    ...{ env_vars: body['env'], labels, cpu, memory_gb: memory, disk_gb: disk, gpu },
    language: (labels as Record<string, unknown> | null | undefined)?.[LANGUAGE_LABEL],
    auto_stop_minutes: body['autoStopInterval'],
    network: askedNetwork(body),
    secrets: await secretsFor(call, body['secrets']),
  });
  if (build && 'dockerfile' in build) return createBuilt(call, build, asked);
  const id = await made(call, { user: USUAL_USER, ...asked, image: build?.image });
  return toSandbox(await shown(call, id), call);
}

/** Refuses before the build what could not be created after it. The user is the Dockerfile's, as its programs expect. */
async function createBuilt(call: DaytonaCall, build: AskedBuild, asked: Record<string, unknown>) {
  const whole = validateInput(createSandboxInput, { ...asked, image: 'built' });
  const { cpu, memory_gb, disk_gb, gpu, name, user, labels } = whole;
  const { sandboxes } = call.services;
  if (name !== undefined && (await unlessMissing(sandboxes.get(call.request.caller, name))))
    throw alreadyThere('sandbox', name);
  const resources = { cpu, memory: memory_gb, disk: disk_gb, gpu };
  const sandbox = { ...withoutUndefined({ name, user }), labels, resources };
  return buildSandbox(call, build, sandbox, async (id, snapshot) => {
    await made(call, { ...asked, snapshot }, id);
  });
}

/** @param sandboxId Drawn by default. */
async function made(
  call: DaytonaCall,
  parameters: Record<string, unknown>,
  sandboxId?: string,
): Promise<string> {
  const { id } = await call.tool('Sandbox.CreateSandbox', parameters, withoutUndefined({ sandboxId }));
  await configure(call, id as string);
  return id as string;
}

/** A creation takes no times of archiving, deletion and end. Without them the sandbox is not what was asked for, so it goes. */
async function configure(call: DaytonaCall, sandbox: string): Promise<void> {
  const { autoArchiveInterval, autoDeleteInterval, ttlMinutes } = call.body;
  const times = {
    auto_archive_minutes: autoArchiveInterval ?? undefined,
    auto_delete_minutes: deleteMinutes(autoDeleteInterval ?? undefined),
  };
  const hasTimes = Object.values(times).some((minutes) => minutes !== undefined);
  try {
    if (hasTimes) await call.tool('Sandbox.ConfigureSandboxAuto', { sandbox, ...times });
    if (isAsked(call.body['public'])) await setPublic(call, sandbox, true);
    if (isAsked(ttlMinutes)) await endAfter(call, sandbox, Number(ttlMinutes));
  } catch (error) {
    await call.tool('Sandbox.DeleteSandbox', { sandbox });
    throw error;
  }
}

/** Throws `NotHere` where the operator lets no port be open to everybody. */
function assertMayBePublic({ services }: DaytonaCall): void {
  if (services.publicPorts.isAllowed) return;
  throw new NotHere(
    'public: Ports of a sandbox are not open to everybody here; previews have tokens, or signed URLs.',
  );
}

/** Opens every port of the sandbox to everybody, or none. */
export async function setPublic(call: DaytonaCall, sandbox: unknown, isPublic: boolean): Promise<void> {
  if (isPublic) assertMayBePublic(call);
  await call.action('SetPublicPorts', { sandbox, all: isPublic });
}

/** Deletes the sandbox after so many minutes, whatever it does. */
export async function endAfter(call: DaytonaCall, sandbox: unknown, minutes: number): Promise<void> {
  await call.action('SetSandboxDeadline', { sandbox, seconds: minutes * 60, action: 'delete' });
}

/** Every negative number means never. */
export function deleteMinutes(interval: unknown): unknown {
  return typeof interval === 'number' ? Math.max(NEVER, interval) : interval;
}

/** Some clients send an empty text for none. */
export function given(value: unknown): unknown {
  return value === '' ? undefined : value;
}
