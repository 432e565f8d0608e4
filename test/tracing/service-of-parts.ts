/**
 * The service's own control layer and HTTP server over a host in memory, whose machines have agents at the far end of the
 * real protocol.
 */
import type { AddressInfo } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createAgentLink } from '../../src/agent-link/agent-link.ts';
import { wire } from '../../src/app/wiring.ts';
import { inBackground, type Tracer } from '../../src/concurrency/span.ts';
import { AccessService } from '../../src/control/access/tokens.ts';
import { enrolFirstUser } from '../../src/control/people/people.ts';
import type { PoolBounds } from '../../src/control/pool/size.ts';
import type { Runtime, Store } from '../../src/control/ports/index.ts';
import { unlimited } from '../../src/model/quota.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { createMcpEndpoint } from '../../src/surfaces/mcp/endpoint.ts';
import { data, end, reply } from '../agent-link/wire/fake-agent.ts';
import { MemoryHost } from '../simulation/host/memory-host.ts';
import { createMemoryImages } from '../simulation/host/memory-images.ts';
import { createMemoryRuntime } from '../simulation/host/memory-runtime.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { fakeAudit } from '../surfaces/fakes/fake-audit.ts';

export const API_KEY = 'shv_canary-key-of-the-first-user';

export interface LogLine {
  message: string;
  context: Record<string, unknown>;
}

export interface ServiceOfParts {
  url: string;
  control: ReturnType<typeof wire>;
  store: Store;
  log: LogLine[];
  /** Logged requests. */
  requests(): LogLine['context'][];
  call(name: string, parameters: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Makes starts of machines wait until `go` is called. */
  hold(): { go(): void; reached: Promise<void> };
  close(): Promise<void>;
}

export async function startService(
  tracer: Tracer | null,
  warmPool: PoolBounds = { min: 0, max: 0 },
): Promise<ServiceOfParts> {
  const lines: LogLine[] = [];
  const write = (message: string, context: Record<string, unknown> = {}) =>
    void lines.push({ message, context });
  const log = { info: write, warn: write, error: write };
  const store = memoryStore();
  await enrolFirstUser(store, Date, API_KEY);
  let wait: { promise: Promise<void>; reached(): void } | null = null;
  const engine = createEngine(async (label) => {
    if (label !== 'engine: launch') return;
    wait?.reached();
    await wait?.promise;
  });
  const { audit } = fakeAudit();
  const access = new AccessService({
    ...{ tokens: store.accessTokens, clock: Date, previewKey: Buffer.alloc(32) },
  });
  const control = wire(
    {
      ...{ store, access, documents: null, host: null, audit, memberQuota: unlimited },
      ...{ challengeKey: Buffer.alloc(32), engine: engine as Parameters<typeof wire>[0]['engine'] },
    },
    {
      ...{ dataDir: '', warmPool, imageKeptMinutes: 60, auditKeptDays: 0, apiKey: undefined },
      ...{ clock: Date, log },
    },
  );
  await inBackground(tracer, async () => {
    await control.reconcile();
    control.pool.refill(0);
  });
  const { services } = control;
  const mcp = createMcpEndpoint({ services, log, version: '1.2.3' });
  const app = createHttpServer({
    ...{ services, log, mcp, tracer, allowedHosts: ['127.0.0.1'], version: '1.2.3', ready: () => true },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    ...{ url, control, store, log: lines },
    requests: () => lines.filter(({ message }) => message === 'request').map(({ context }) => context),
    call: (name, parameters, headers = {}) =>
      fetch(`${url}/v1/tools/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(parameters),
      }),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      wait = { promise, reached: reach };
      const go = () => {
        wait = null;
        resolve();
      };
      return { go, reached };
    },
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await mcp.close();
      await control.close();
    },
  };
}

function createEngine(point: (label: string) => Promise<void>) {
  const host = new MemoryHost();
  const runtime: Runtime = createMemoryRuntime({ host, point });
  const openChannel = async (id: string) => {
    const [ours, theirs] = duplexPair();
    theirs.on('error', () => {});
    theirs.once('data', (request: Buffer) => answer(theirs, id, JSON.parse(request.subarray(5).toString())));
    return ours;
  };
  return {
    runtime,
    images: createMemoryImages({ host, clock: Date, point: async () => {} }),
    agent: createAgentLink({ openChannel }),
    remoteArchives: null,
  };
}

/** As an agent whose commands print `out`. */
function answer(channel: Duplex, id: string, request: { op: string; generation: number }): void {
  const { op, generation } = request;
  if (op === 'hello') channel.write(reply({ version: 4, sandbox_id: id, generation }));
  else if (op === 'exec') {
    const sizes = { stdout_bytes: 3, stderr_bytes: 0, output_bytes: 3 };
    channel.write(reply({ exit_code: 0, timed_out: false, truncated: false, duration_ms: 1, ...sizes }));
    channel.write(Buffer.concat([data('out'), data('out'), end()]));
  } else channel.write(reply({}));
}
