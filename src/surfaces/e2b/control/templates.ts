/** Templates that clients build: announced, their files sent, begun, and asked for until they are ready. Each becomes a snapshot. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { newName } from '../../../catalog/parameters/sandbox.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { DetachedView, LoggedEvent } from '../../../control/builds/detached.ts';
import { auditActions } from '../../../model/audit.ts';
import { canceled } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { audited, type DaytonaCall as Call, type DaytonaRoute as Route } from '../../daytona/base/call.ts';
import { isAsked } from '../../daytona/base/errors.ts';
import { failureOf, lineOf } from '../../daytona/control/builds.ts';
import { CONTROL, wasLed } from '../base/address.ts';
import { NotHere } from '../base/errors.ts';
import { baseTemplates } from './create.ts';
import { snapshotName, TAG_MARK } from './snapshots.ts';
import { contextOf, dockerfileOf, type Step } from './template-steps.ts';

export const templateRoutes: readonly Route[] = [
  { method: 'POST', path: '/v3/templates', handler: announce, status: 202 },
  { method: 'GET', path: '/templates/:template/files/:hash', handler: uploadAddress, status: 201 },
  { method: 'POST', path: '/v2/templates/:template/builds/:build', handler: begin, status: 202 },
  { method: 'GET', path: '/templates/:template/builds/:build/status', handler: status },
];

/** Path of an upload, which its ticket opens alone. */
export const UPLOADS = `${CONTROL}/template-files/:ticket`;

const MB_OF_GB = 1_024;
const sizes = (bounds: { min: number; max: number }) => z.int().min(bounds.min).max(bounds.max);
const text = z.string().max(limits.codeBytes);

const naming = z.object({ name: z.string(), tags: z.array(z.string()) });
const announcement = z.object({
  name: newName('snap_'),
  cpu: sizes(limits.cpu),
  memory: sizes(limits.memoryGb),
});

async function announce(call: Call): Promise<unknown> {
  const { name, alias, tags = [], cpuCount = 2, memoryMB = MB_OF_GB } = call.body;
  const template = validateInput(naming, { name: name ?? alias, tags });
  const asked = validateInput(announcement, {
    name: snapshotName(template.name, template.tags),
    cpu: cpuCount,
    memory: Math.ceil(Number(memoryMB) / MB_OF_GB),
  });
  assertScope(call.request.caller, 'sandboxes:write');
  const { name: templateID, ...resources } = asked;
  const buildID = call.services.detachedBuilds.announce(call.request.caller, { name: templateID, resources });
  const [, tag = 'default'] = templateID.split(TAG_MARK);
  return {
    ...{ templateID, buildID, tags: [tag], public: false },
    names: [templateID],
    aliases: [templateID],
  };
}

const hash = z.object({ hash: z.string().regex(/^[\w-]{1,128}$/, 'must be a hash') });

async function uploadAddress(call: Call): Promise<unknown> {
  const { hash: name } = validateInput(hash, { hash: call.params['hash'] });
  const { request, services, origin } = call;
  assertScope(request.caller, 'sandboxes:write');
  const present = services.uploads.has(request.caller, name);
  const path = UPLOADS.replace(':ticket', services.uploads.expect(request.caller, name));
  return { present, url: origin + (wasLed(request.raw) ? path.slice(CONTROL.length) : path) };
}

/** Takes the bytes of an archive at an address that was given out. */
export async function takeUpload(
  { raw, params }: FastifyRequest,
  reply: FastifyReply,
  { uploads }: Call['services'],
) {
  raw.socket.setTimeout(limits.byteStreamIdleMs);
  const { ticket } = params as { ticket: string };
  await uploads.keep(ticket, raw.iterator({ destroyOnReturn: false })).catch((error: unknown) => {
    // A body that breaks off is its client's, who has left.
    throw raw.errored ? canceled(error) : error;
  });
  return reply.code(200).send();
}

const wanted = z.object({
  fromImage: text.nullish(),
  fromTemplate: text.nullish(),
  startCmd: text.nullish(),
  force: z.boolean().nullish(),
  steps: z
    .array(
      z.object({
        type: z.string(),
        args: z.array(text).default([]),
        filesHash: hash.shape.hash.nullish(),
        force: z.boolean().nullish(),
      }),
    )
    .max(limits.build.instructions)
    .nullish(),
});

async function begin(call: Call): Promise<unknown> {
  if (isAsked(call.body['fromImageRegistry']))
    throw new NotHere(
      'fromImageRegistry: Credentials of registries are kept by the service: docs/registries.md.',
    );
  const { fromImage, fromTemplate, startCmd, force, steps: asked } = validateInput(wanted, call.body);
  const steps: Step[] = (asked ?? []).map(({ type, args, filesHash }) => ({
    ...{ type, args },
    ...(filesHash ? { filesHash } : {}),
  }));
  const { from, user } = await baseOf(call, fromImage ?? null, fromTemplate ?? null);
  const dockerfile = dockerfileOf({ ...{ from, user, steps }, startCmd: startCmd || null });
  const isCached = force !== true && !(asked ?? []).some((step) => step.force === true);
  return audited(call, { action: auditActions.snapshotBuild, scope: 'sandboxes:write' }, async () => {
    const { caller } = call.request;
    const { builds, detachedBuilds, uploads } = call.services;
    await detachedBuilds.begin(caller, call.params['build'] ?? '', (announced, signal) => {
      const request = { ...announced, ...{ file: 'template', args: new Map(), isCached, dockerfile } };
      return builds.prepare(caller, request, contextOf(uploads, caller, steps), signal);
    });
    return {};
  });
}

/** Images of theirs that are the base image here. */
const baseImages = /^e2bdev\/(base|code-interpreter)(:latest)?$/;

async function baseOf(
  call: Call,
  image: string | null,
  template: string | null,
): Promise<{ from: string; user: string | null }> {
  if (image !== null && !baseImages.test(image)) return { from: image, user: null };
  const name = template === null ? 'base' : snapshotName(template);
  if (image !== null || baseTemplates.includes(name)) return { from: 'base', user: null };
  const { user } = await call.tool('Sandbox.GetSnapshot', { snapshot: name });
  return { from: name, user: typeof user === 'string' ? user : 'root' };
}

const offset = z.object({ logsOffset: z.coerce.number().int().min(0).default(0) });

async function status(call: Call): Promise<unknown> {
  const { logsOffset } = validateInput(offset, { logsOffset: call.query['logsOffset'] });
  assertScope(call.request.caller, 'sandboxes:read');
  const view = call.services.detachedBuilds.read(call.request.caller, call.params['build'] ?? '', logsOffset);
  return {
    ...{ templateID: view.announced.name, buildID: view.id, logs: [], logEntries: view.events.map(toEntry) },
    ...(view.state === 'failed' ? { status: 'error', reason: reasonOf(view) } : { status: view.state }),
  };
}

/** `base` is their word for what comes before the first step. */
function reasonOf(view: DetachedView) {
  const { line } = view;
  return { message: failureOf(view), step: line === 0 ? 'base' : String(line), logEntries: [] };
}

const toEntry = (logged: LoggedEvent) => ({
  timestamp: new Date(logged.at).toISOString(),
  level: levelOf(logged),
  message: lineOf(logged).trimEnd(),
});

function levelOf(logged: LoggedEvent): string {
  if (logged.event === 'output') return logged.stream === 'stderr' ? 'warn' : 'info';
  return { step: 'info', note: 'warn', failed: 'error' }[logged.event];
}
