/**
 * GET /v1/sandboxes/{sandbox}/tunnel, upgraded to `tcp`: after the response, the bytes of one connection to a port
 * of the sandbox's own loopback.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sandbox } from '../../../catalog/parameters/sandbox.ts';
import { validateInput } from '../../../catalog/validate.ts';
import { InProgress } from '../../../concurrency/closing.ts';
import type { Services } from '../../../control/services.ts';
import { type Load, Shares } from '../../../fairness/shares.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { breakOff, joinStreams } from '../../streams.ts';
import { subjectOf } from '../base/origin.ts';
import { sendProblem } from '../base/problem.ts';
import type { Upgrades } from '../base/upgrades.ts';

const PROTOCOL = 'tcp';
const SWITCH = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n`;

const target = z.strictObject({
  sandbox,
  port: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port, 1 to 65535')
    .transform(Number)
    .pipe(z.int().min(1).max(65_535)),
});

export function addTunnelRoute(
  app: FastifyInstance,
  upgrades: Upgrades,
  services: Pick<Services, 'tunnels' | 'audit' | 'metrics'>,
): void {
  const tunnels = new Tunnels();
  services.metrics.loads.watch('tunnels', tunnels.load);
  // The server no longer tracks upgraded connections, yet would wait for them for ever.
  app.addHook('preClose', () => tunnels.endAll());

  const options = { exposeHeadRoute: false, config: { endless: true, sandboxTokens: true } };
  app.get('/v1/sandboxes/:sandbox/tunnel', options, async (request, reply) => {
    const { sandbox: reference, port } = validateInput(target, {
      ...(request.query as object),
      ...(request.params as object),
    });
    const early = upgrades.earlyBytesOf(request.raw, PROTOCOL);
    if (early === null) return refusePlain(request, reply);
    const gone = new AbortController();
    const subject = subjectOf(request, auditActions.tunnelOpen, gone.signal);
    const visit = services.audit.visit(subject, auditActions.tunnelClose, async (begun) => {
      assertScope(request.caller, 'sandboxes:write');
      const release = tunnels.take(request.caller.id);
      reply.raw.once('close', release);
      const left = () => gone.abort();
      reply.raw.once('close', left);
      const work = async (connection: Duplex) => {
        begun();
        // The connection's own end counts after this point.
        reply.raw.off('close', left);
        reply.hijack();
        await tunnels.carry(reply, early, connection);
      };
      await services.tunnels.visit(request.caller, reference, port, work, gone.signal);
    });
    await tunnels.during(visit);
    return reply;
  });
}

class Tunnels {
  readonly #open = new Set<Socket>();
  readonly #visits = new InProgress<Promise<void>>();
  readonly #shares = new Shares({ ...limits.shares.tunnels, what: 'tunnels are already open' });

  get load(): Load {
    return this.#shares;
  }

  /** Throws `resource_exhausted`. Returns the function that releases the place. */
  take(owner: string): () => void {
    return this.#shares.take(owner);
  }

  /** Resolves when both sides have left. */
  async carry(reply: FastifyReply, early: Buffer, connection: Duplex): Promise<void> {
    const { socket } = reply.request.raw;
    this.#open.add(socket);
    reply.raw.statusCode = 101;
    reply.request.leave?.();
    socket.setKeepAlive(true, limits.tunnel.keepaliveMs);
    socket.setNoDelay(true);
    socket.write(`${SWITCH}x-request-id: ${reply.request.id}\r\n\r\n`);
    if (early.length > 0) connection.write(early);
    try {
      await joinStreams(socket, connection);
    } finally {
      this.#open.delete(socket);
    }
  }

  during(visit: Promise<void>): Promise<void> {
    return visit.finally(this.#visits.begin(visit));
  }

  /** Resolves once every visit has written its audit row, or the grace period is over. */
  async endAll(): Promise<void> {
    for (const socket of this.#open) breakOff(socket);
    await this.#visits.endOfThese(limits.closeGraceMs);
  }
}

/** Uses status 426, HTTP's own for this case, which the table of codes has no other use for. */
function refusePlain(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = invalidArgument(
    'Upgrade',
    'A tunnel is no plain request.',
    `Send \`Connection: Upgrade\` and \`Upgrade: ${PROTOCOL}\`, or use \`sandhaven forward\`.`,
  );
  request.outcome = error.code;
  reply.header('upgrade', PROTOCOL).header('connection', 'upgrade, close');
  return sendProblem(reply, { ...toProblem(error, request.id), status: 426, title: 'Upgrade required' });
}
