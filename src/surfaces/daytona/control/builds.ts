/** Builds from Dockerfiles: of a snapshot, and of one sandbox, which is created when its snapshot is there. */
import type { FastifyInstance } from 'fastify';
import { toNetworkView } from '../../../catalog/base/sandbox-view.ts';
import type { Announced, DetachedView, SandboxToBe } from '../../../control/builds/detached.ts';
import type { BuildEvent } from '../../../control/builds/progress.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { buildOfSandbox, randomText, sandboxOfBuild } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { openNetwork } from '../../../model/network/setting.ts';
import { assertScope } from '../../../model/scopes.ts';
import type { Snapshot } from '../../../model/snapshot.ts';
import { readOn } from '../../http/base/connections.ts';
import {
  audited,
  CONTROL,
  type DaytonaCall,
  type DaytonaDependencies,
  type DaytonaRoute,
  toCall,
} from '../base/call.ts';
import { unlessMissing } from '../base/errors.ts';
import { answer, changed, type ShownSandbox, toSandbox } from './sandbox-answer.ts';

/** Dockerfile of a build, and the names of the archives with its files. */
export interface AskedBuild {
  dockerfile: string;
  files: readonly string[];
}

const ONE_LINE = /^\s*FROM\s+(?!--)(\S+)\s*$/i;

/** Returns undefined without a `buildInfo`. An image that is given by its name arrives as a Dockerfile of one line. */
export function buildIn(buildInfo: unknown): { image: string } | AskedBuild | undefined {
  if (buildInfo === undefined || buildInfo === null) return undefined;
  const { dockerfileContent: dockerfile, contextHashes } = buildInfo as Record<string, unknown>;
  if (typeof dockerfile !== 'string') {
    throw invalidArgument('buildInfo', 'buildInfo.dockerfileContent must be a Dockerfile.');
  }
  const files = Array.isArray(contextHashes) ? contextHashes.map(String) : [];
  const [, image] = ONE_LINE.exec(dockerfile) ?? [];
  return image !== undefined && files.length === 0 ? { image } : { dockerfile, files };
}

/** Begins it, and returns its id. It ends after `then`. */
export function begin(
  call: DaytonaCall,
  { dockerfile, files }: AskedBuild,
  announced: Announced,
  then: (id: string, snapshot: Snapshot) => Promise<void> = async () => {},
): Promise<string> {
  const { caller } = call.request;
  const { builds, detachedBuilds, uploads } = call.services;
  const { name, resources } = announced;
  const sizes = resources ? { resources } : {};
  const request = { name, file: 'Dockerfile', args: new Map(), isCached: true, dockerfile, ...sizes };
  return audited(call, { action: auditActions.snapshotBuild, scope: 'sandboxes:write' }, () =>
    detachedBuilds.start(caller, announced, async (id, signal) => {
      const prepared = await builds.prepare(caller, request, uploads.joined(caller, files), signal);
      return {
        async run(take) {
          const snapshot = await prepared.run(take);
          signal.throwIfAborted();
          await then(id, snapshot);
          return snapshot;
        },
        close: () => prepared.close(),
      };
    }),
  );
}

/**
 * Builds the image of one sandbox, and answers that one as it will be.
 * @param create Creates it from a snapshot, which goes afterwards: the kept steps make the next one.
 */
export async function buildSandbox(
  call: DaytonaCall,
  build: AskedBuild,
  { resources, ...sandbox }: SandboxToBe & Pick<Announced, 'resources'>,
  create: (sandboxId: string, snapshot: string) => Promise<void>,
): Promise<Record<string, unknown>> {
  const announced = { name: `build-${randomText(16)}`, sandbox, ...(resources ? { resources } : {}) };
  const id = await begin(call, build, announced, async (buildId, snapshot) => {
    try {
      await create(sandboxOfBuild(buildId), snapshot.id);
    } finally {
      await call.action('DeleteSnapshot', { snapshot: snapshot.id });
    }
  });
  const view = call.services.detachedBuilds.read(call.request.caller, id, 0);
  return toPending(call, view, { state: 'pending_build', desiredState: 'started' });
}

/** The sandbox in the path, which may still be one to be. */
export async function answerAny(call: DaytonaCall): Promise<Record<string, unknown>> {
  const view = buildOf(call);
  if (!view) return answer(call);
  if (view.state !== 'failed')
    return toPending(call, view, { state: 'building_snapshot', desiredState: 'started' });
  // It may be there, where what came after its creation failed.
  const created = await unlessMissing(answer(call));
  return created ?? toPending(call, view, { state: 'build_failed', errorReason: failureOf(view) });
}

/** Deletes the sandbox in the path, or ends the build that it waits for, which may just have created it. */
export async function deleteAny(call: DaytonaCall): Promise<Record<string, unknown>> {
  const view = buildOf(call);
  if (!view) return changed(call, 'Sandbox.DeleteSandbox');
  assertScope(call.request.caller, 'sandboxes:write');
  await call.services.detachedBuilds.remove(call.request.caller, view.id);
  const created = await unlessMissing(changed(call, 'Sandbox.DeleteSandbox'));
  return created ?? toPending(call, view, { state: 'destroyed', desiredState: 'destroyed' });
}

/** Returns the build that the sandbox in the path waits for, or for which it waited in vain. */
function buildOf({ params, request, services }: DaytonaCall): DetachedView | null {
  assertScope(request.caller, 'sandboxes:read');
  const view = services.detachedBuilds.find(request.caller, buildOfSandbox(params['sandbox'] ?? ''));
  return view?.announced.sandbox ? view : null;
}

async function toPending(
  call: DaytonaCall,
  { id: buildId, announced, announcedAt }: DetachedView,
  states: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const id = sandboxOfBuild(buildId);
  const { name = id, user, labels = {} } = announced.sandbox ?? {};
  const at = new Date(announcedAt).toISOString();
  const minutes = {
    auto_stop_minutes: limits.autoStopMinutes.default,
    auto_archive_minutes: limits.autoArchiveMinutes.default,
    auto_delete_minutes: limits.autoDeleteMinutes.default,
  };
  const [region] = call.services.identity.regions();
  const shown: ShownSandbox = {
    ...{ id, name, state: 'stopped', status: 'stopped', operation: 'creating', language: 'python' },
    ...{
      snapshot: null,
      image: null,
      labels,
      env_vars: {},
      network: toNetworkView(openNetwork),
      ephemeral: false,
    },
    resources: sizesOf(announced.resources),
    ...minutes,
    ...(user === undefined ? {} : { user }),
    ...{ region_id: region?.id ?? '', created_at: at, updated_at: at, last_activity_at: at },
    ...{ started_at: null, stopped_at: null, archived_at: null },
  };
  return { ...(await toSandbox(shown, call)), ...states };
}

/** Sizes of a snapshot that names these. */
export function sizesOf(asked: Announced['resources'] = {}) {
  const { cpu, memoryGb, diskGb, gpu } = limits;
  return { cpu: cpu.default, memory: memoryGb.default, disk: diskGb.default, gpu: gpu.default, ...asked };
}

/** Paths of what is built, by its own id or that of its build. */
const ofBuilt = ['/sandbox/:build', '/snapshots/:build'];

export const buildLogRoutes: readonly DaytonaRoute[] = ofBuilt.map((path) => ({
  ...{ method: 'GET', path: `${path}/build-logs-url` },
  async handler({ origin, params }) {
    return { url: `${origin}${CONTROL}${path.replace(':build', params['build'] ?? '')}/build-logs` };
  },
}));

/** Logs of builds as text: with `follow=true` to the end of the build. */
export function addBuildLogs(app: FastifyInstance, parts: DaytonaDependencies): void {
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort());
  const options = { config: { endless: true }, exposeHeadRoute: false };
  for (const path of ofBuilt)
    app.get(`${CONTROL}${path}/build-logs`, options, async (request, reply) => {
      const call = toCall(request, reply, parts);
      assertScope(request.caller, 'sandboxes:read');
      const { detachedBuilds } = parts.services;
      const ends = call.query['follow'] === 'true' ? [call.signal, stop.signal] : [AbortSignal.abort()];
      const { build: built = '' } = call.params;
      const id = detachedBuilds.makerOf(request.caller, built) ?? buildOfSandbox(built);
      detachedBuilds.read(request.caller, id, 0);
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-accel-buffering': 'no' });
      raw.flushHeaders();
      for await (const event of detachedBuilds.follow(request.caller, id, AbortSignal.any(ends))) {
        if (raw.destroyed) break;
        raw.write(lineOf(event));
        await readOn(raw);
      }
      raw.end();
      return reply;
    });
}

/** Says why a build failed, and nothing of a defect but that it was one. */
export function failureOf({ error }: Pick<DetachedView, 'error'>): string {
  return error instanceof SandhavenError ? error.message : 'The build failed.';
}

/** Returns the event as people read it, with its newline; output is as it came. */
export function lineOf(event: BuildEvent): string {
  switch (event.event) {
    case 'step':
      return `[${event.step}/${event.of}] ${event.text}${event.cached ? '  (kept)' : ''}\n`;
    case 'output':
      return event.text;
    case 'note':
      return `${event.text}\n`;
    case 'failed':
      return `It ended with exit code ${event.exit_code}.\n`;
  }
}
