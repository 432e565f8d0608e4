/**
 * GET /v1/events: changes of the caller's sandboxes as server-sent events, until either side ends the stream. A client
 * lists once it has `ready`, and again at each `refresh`. With `?usage=true` it also gets what started ones use, with
 * `?snapshots=true` changes of snapshots, with `?audit=true` new rows of the audit log, with `?network=SANDBOX` what that
 * sandbox's network log gets, and an admin with `?health=true` the service's health.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { toRowView } from '../../../administration/audit.ts';
import { toHealthView } from '../../../administration/health.ts';
import { toNetworkLog } from '../../../administration/network-log.ts';
import { toSandboxView } from '../../../catalog/base/sandbox-view.ts';
import { sandbox as sandboxReference } from '../../../catalog/parameters/sandbox.ts';
import { toSnapshotView } from '../../../catalog/snapshots/snapshots.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { AuditFollower } from '../../../control/live/audit-events.ts';
import type { HealthViewer } from '../../../control/live/health-events.ts';
import type { Follower } from '../../../control/live/sandbox-events.ts';
import type { SnapshotFollower, SnapshotProgress } from '../../../control/live/snapshot-events.ts';
import type { Figures, UsageViewer } from '../../../control/live/usage-sampler.ts';
import type { FollowedLog } from '../../../control/network/network-service.ts';
import type { Services } from '../../../control/services.ts';
import { Shares } from '../../../fairness/shares.ts';
import { type AuditRow, auditActions } from '../../../model/audit.ts';
import { GiB, limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { assertAdmin } from '../../../model/user.ts';
import { subjectOf } from '../base/origin.ts';

const choice = z.enum(['true', 'false']).default('false');
const query = z.strictObject({
  ...{ usage: choice, snapshots: choice, audit: choice, health: choice },
  network: sandboxReference.optional(),
});

export function addEventRoutes(
  app: FastifyInstance,
  services: Pick<
    Services,
    'events' | 'snapshotEvents' | 'usage' | 'auditEvents' | 'healthEvents' | 'networks' | 'audit' | 'metrics'
  >,
): void {
  const shares = new Shares({ ...limits.events.streams, what: 'event streams are already open' });
  services.metrics.loads.watch('event_streams', shares);
  const open = new Set<EventStream>();
  // A stream has no end of its own, and the server would wait for it.
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end();
  });

  app.get('/v1/events', { exposeHeadRoute: false, config: { endless: true } }, async (request, reply) => {
    const subject = subjectOf(request, auditActions.eventsOpen);
    await services.audit.visit(subject, auditActions.eventsClose, async (begun) => {
      assertScope(request.caller, 'sandboxes:read');
      const { usage, snapshots, audit, health, network } = validateInput(query, request.query);
      if (audit === 'true') assertScope(request.caller, 'account');
      if (health === 'true') {
        assertScope(request.caller, 'admin');
        assertAdmin(request.caller, 'The health in the stream');
      }
      const release = shares.take(request.caller.id);
      const stream = new EventStream(reply.raw);
      const ends: (() => void)[] = [];
      try {
        ends.push(await services.events.follow(request.caller, stream));
        if (snapshots === 'true') ends.push(services.snapshotEvents.follow(request.caller, stream));
        if (usage === 'true') ends.push(await services.usage.view(request.caller, stream));
        if (audit === 'true') ends.push(await services.auditEvents.follow(request.caller, stream));
        if (network !== undefined) {
          const log = await services.networks.follow(request.caller, network, () => stream.logged());
          ends.push(log.end);
          stream.carryLog(log);
        }
        if (health === 'true') ends.push(services.healthEvents.view(request.caller, stream));
        begun();
        reply.hijack();
        open.add(stream);
        await stream.carry();
      } finally {
        for (const end of ends) end();
        open.delete(stream);
        release();
      }
    });
    return reply;
  });
}

/** One stream. What a slow client has not read yet waits once for each sandbox, and up to a bound. */
class EventStream implements Follower, SnapshotFollower, UsageViewer, AuditFollower, HealthViewer {
  readonly #raw: ServerResponse;
  readonly #waiting = new Map<string, string>();
  #waitingChars = 0;
  #isLate = false;
  #isBegun = false;
  #log: FollowedLog | null = null;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  /** Resolves when the connection is closed. */
  async carry(): Promise<void> {
    const raw = this.#raw;
    if (raw.destroyed) return;
    const closed = new Promise((resolve) => raw.once('close', resolve));
    raw.on('drain', () => this.#flush());
    raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
    raw.write(event('ready', {}));
    this.#isBegun = true;
    this.#flush();
    const heartbeat = setInterval(() => {
      if (!raw.writableNeedDrain) raw.write(': nothing new\n\n');
    }, limits.eventStreamHeartbeatMs);
    await closed;
    clearInterval(heartbeat);
  }

  end(): void {
    this.#raw.end();
  }

  changed(sandbox: Parameters<Follower['changed']>[0]): void {
    this.#send(sandbox.id, event('sandbox', toSandboxView(sandbox)));
  }

  gone(id: string): void {
    this.#send(id, event('sandbox_deleted', { id }));
  }

  snapshotChanged(snapshot: Parameters<SnapshotFollower['snapshotChanged']>[0]): void {
    this.#send(snapshot.id, event('snapshot', toSnapshotView(snapshot)));
  }

  snapshotGone(id: string): void {
    this.#send(id, event('snapshot_deleted', { id }));
  }

  snapshotProgress(id: string, { message, done, total }: SnapshotProgress): void {
    const bytes = { done_bytes: done ?? null, total_bytes: total ?? null };
    this.#send(`${id} progress`, event('snapshot_progress', { id, message, ...bytes }));
  }

  usage(figures: Figures[]): void {
    this.#send('usage', event('usage', { sandboxes: figures.map(toUsageView) }));
  }

  rows(rows: AuditRow[]): void {
    this.#send(`audit ${rows[0]?.sequence}`, event('audit', { rows: rows.map(toRowView) }));
  }

  rowsMissed(): void {
    this.#send('audit_missed', event('audit_missed', {}));
  }

  health(health: Parameters<HealthViewer['health']>[0]): void {
    this.#send('health', event('health', toHealthView(health)));
  }

  /** Sends what is new in this log, as fast as the client reads. */
  carryLog(log: FollowedLog): void {
    this.#log = log;
  }

  logged(): void {
    this.#flush();
  }

  refresh(): void {
    this.#waiting.clear();
    this.#waitingChars = 0;
    this.#isLate = true;
    this.#flush();
  }

  #send(id: string, text: string): void {
    this.#waitingChars += text.length - (this.#waiting.get(id)?.length ?? 0);
    this.#waiting.set(id, text);
    if (this.#waitingChars > limits.events.waitingChars) this.refresh();
    else this.#flush();
  }

  #flush(): void {
    const raw = this.#raw;
    const takes = () => this.#isBegun && !raw.writableNeedDrain && !raw.writableEnded && !raw.destroyed;
    if (this.#isLate && takes()) {
      this.#isLate = false;
      raw.write(event('refresh', {}));
    }
    for (const [id, text] of this.#waiting) {
      if (!takes()) return;
      this.#waiting.delete(id);
      this.#waitingChars -= text.length;
      raw.write(text);
    }
    while (takes()) {
      const page = this.#log?.take();
      if (!page) return;
      raw.write(event('network', { sandbox: this.#log?.sandboxId, ...toNetworkLog(page) }));
    }
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function toUsageView({ id, resources, cores, memoryBytes, diskBytes }: Figures) {
  const percent = cores === null ? null : Math.round((cores / resources.cpu) * 1_000) / 10;
  return {
    id,
    cpu: { cores: cores === null ? null : Math.round(cores * 1_000) / 1_000, limit: resources.cpu, percent },
    memory: { bytes: memoryBytes, limit_bytes: resources.memory * GiB },
    disk: { bytes: diskBytes, limit_bytes: resources.disk * GiB },
  };
}
