/** Runs a service of our own with a data directory of its own, used over HTTP like any client. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../../test/support/service.ts';
import { createEndpoint, type Endpoint, send } from './http.ts';

export interface Sandhaven extends AsyncDisposable {
  url: string;
  apiKey: string;
  pid: number;
  /** Parent of all sandboxes' cgroups, in every hierarchy. */
  cgroup: string;
  /** Resolves with the id of a ready sandbox. */
  create(parameters?: Record<string, unknown>): Promise<string>;
  stop(sandbox: string): Promise<void>;
  /** Resolves with the number of sandboxes on the first page, which has a hundred at most. */
  list(): Promise<number>;
  remove(sandbox: string): Promise<void>;
  /** Rejects when the exit status is not 0. */
  command(sandbox: string, command: string): Promise<string>;
  /** Rejects when the exit status is not 0. */
  code(sandbox: string, code: string): Promise<string>;
  /** Opens it. */
  session(sandbox: string, session: string): Promise<void>;
  /** Rejects when the exit status is not 0. */
  sessionCommand(sandbox: string, session: string, command: string): Promise<string>;
  /** Resolves with the number of matching files. */
  search(sandbox: string, path: string, query: string): Promise<number>;
  writeFile(sandbox: string, path: string, content: string, durable?: boolean): Promise<void>;
  readFile(sandbox: string, path: string): Promise<string>;
  upload(sandbox: string, path: string, content: Buffer): Promise<void>;
  /** Resolves with the number of received bytes. */
  download(sandbox: string, path: string): Promise<number>;
  gitStatus(sandbox: string, path: string): Promise<void>;
  /** Returns a signed URL of a port. */
  preview(sandbox: string, port: number): Promise<URL>;
  /** The user name is the token. */
  sshAccess(sandbox: string): Promise<{ host: string; port: number; username: string }>;
  /** Sends a request that does nothing: the cost of HTTP and of the service's event loop alone. */
  nothing(): Promise<void>;
  /** Resolves with the text of its metrics. */
  metrics(): Promise<string>;
  /** Ends the process and starts another, at another address. Sandboxes go on. Resolves when it is ready. */
  restart(): Promise<void>;
  /** Resolves once the warm pool is full again and at rest. */
  poolFull(): Promise<void>;
}

const POOL_TIMEOUT_MS = 60_000;
const POOL_POLL_MS = 50;
/** Time between a machine's socket and the commit that offers it, with the disk and slot made ready in its place. */
const POOL_SETTLE_MS = 400;

export async function startSandhaven(
  dataDir: string,
  warmPool: number,
  flags: readonly string[] = [],
): Promise<Sandhaven> {
  const service = await startService({ dataDir, flags: ['--warm-pool', String(warmPool), ...flags] });
  let endpoint = connect(service);
  const instance = `sandhaven-${(await readFile(join(dataDir, 'instance'), 'utf8')).trim()}`;
  let claimed = 0;

  async function tool(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
    const body = Buffer.from(JSON.stringify(parameters));
    return JSON.parse((await send(endpoint, 'POST', `/v1/tools/Sandbox.${name}`, { body })).body.toString());
  }
  async function execute(name: string, parameters: Record<string, unknown>): Promise<string> {
    const { exit_code, output } = await tool(name, parameters);
    if (exit_code !== 0)
      throw new Error(`${JSON.stringify(parameters)}: exit status ${exit_code}: ${output}`);
    return String(output);
  }
  const bytesOf = (sandbox: string, path: string) =>
    `/v1/sandboxes/${sandbox}/files?path=${encodeURIComponent(path)}`;

  return {
    get url() {
      return service.url;
    },
    apiKey: service.apiKey,
    get pid() {
      return service.pid;
    },
    cgroup: instance,
    async create(parameters = {}) {
      const { id } = await tool('CreateSandbox', parameters);
      claimed += 1;
      return String(id);
    },
    async stop(sandbox) {
      await tool('StopSandbox', { sandbox });
    },
    async list() {
      const { sandboxes } = await tool('ListSandboxes', { page_size: 100 });
      return (sandboxes as unknown[]).length;
    },
    async remove(sandbox) {
      await tool('DeleteSandbox', { sandbox });
      claimed -= 1;
    },
    command: (sandbox, command) => execute('RunCommand', { sandbox, command }),
    code: (sandbox, code) => execute('RunCode', { sandbox, code }),
    async session(sandbox, session) {
      await tool('CreateSession', { sandbox, session_id: session });
    },
    sessionCommand: (sandbox, session, command) =>
      execute('RunSessionCommand', { sandbox, session_id: session, command }),
    async search(sandbox, path, query) {
      return Number((await tool('SearchContent', { sandbox, path, query }))['total_count']);
    },
    async writeFile(sandbox, path, content, durable = false) {
      await tool('WriteFile', { sandbox, path, content, ...(durable ? { durable } : {}) });
    },
    async readFile(sandbox, path) {
      return String((await tool('ReadFile', { sandbox, path }))['content']);
    },
    async upload(sandbox, path, content) {
      const type = 'application/octet-stream';
      await send(endpoint, 'PUT', bytesOf(sandbox, path), { body: content, contentType: type });
    },
    async download(sandbox, path) {
      return (await send(endpoint, 'GET', bytesOf(sandbox, path), { discard: true })).bytes;
    },
    async gitStatus(sandbox, path) {
      const { branch } = await tool('GitStatus', { sandbox, path });
      if (branch !== 'main') throw new Error(`GitStatus: ${String(branch)}`);
    },
    async preview(sandbox, port) {
      return new URL(String((await tool('GetPortPreviewUrl', { sandbox, port, signed: true }))['url']));
    },
    async sshAccess(sandbox) {
      const { host, port: sshPort, access_token } = await tool('CreateSshAccess', { sandbox });
      return { host: String(host), port: Number(sshPort), username: String(access_token) };
    },
    async nothing() {
      await send(endpoint, 'GET', '/healthz');
    },
    async metrics() {
      return (await send(endpoint, 'GET', '/metrics')).body.toString();
    },
    async restart() {
      endpoint.agent.destroy();
      await service.restart();
      endpoint = connect(service);
    },
    async poolFull() {
      const deadline = performance.now() + POOL_TIMEOUT_MS;
      while ((await sockets(instance)) < claimed + warmPool) {
        if (performance.now() > deadline) throw new Error(`The warm pool did not fill:\n${service.log()}`);
        await sleep(POOL_POLL_MS);
      }
      await sleep(POOL_SETTLE_MS);
    },
    async [Symbol.asyncDispose]() {
      endpoint.agent.destroy();
      await service.stop();
    },
  };
}

function connect({ url, apiKey }: { url: string; apiKey: string }): Endpoint {
  const { hostname, port } = new URL(url);
  return createEndpoint({ host: hostname, port: Number(port) }, { authorization: `Bearer ${apiKey}` });
}

/** Counts machines by their agents' sockets. */
async function sockets(instance: string): Promise<number> {
  return (await readdir(`/run/${instance}/s`).catch(() => [])).filter((name) => name.startsWith('sb_'))
    .length;
}
