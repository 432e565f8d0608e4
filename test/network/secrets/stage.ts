/**
 * A service with its machines in a network of its own, and the internet outside of it: a resolver where this host looks for
 * one, and servers at one name, whose certificate the service trusts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../../src/agent-link/authority.ts';
import { parseResolvConf } from '../../../src/runtime/oci/network/dns/upstream.ts';
import { bin, makeDataDir, type Service, startService, wholeName } from '../../support/service.ts';
import { createTestHost, type TestHost } from '../harness.ts';
import { signLeaf } from './leaf.ts';

/** Name of the servers outside. */
export const HOST = 'public.test';

export class Stage implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'sandhaven-stage-'));
  readonly #host: TestHost;
  readonly #servers: ChildProcess[] = [];
  #service: Service | null = null;

  private constructor(host: TestHost) {
    this.#host = host;
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await createTestHost());
    await stage.#startInternet();
    return stage;
  }

  get service(): Service {
    if (!this.#service) throw new Error('the service has not started');
    return this.#service;
  }

  /** Starts a program of this folder outside, with the paths of its key and its certificate as arguments. */
  startServer(program: string): Promise<ChildProcess> {
    return this.#startOutside(program, join(this.folder, 'key.pem'), join(this.folder, 'cert.pem'));
  }

  async startService(env: Record<string, string> = {}): Promise<void> {
    const program = join(this.folder, 'sandhaven');
    const inside = `exec nsenter --net=${this.#host.path} ${bin} "$@"`;
    writeFileSync(program, `#!/bin/sh\n${inside}\n`, { mode: 0o755 });
    const dataDir = await makeDataDir();
    const trusted = join(this.folder, 'ca.pem');
    this.#service = await startService({ program, dataDir, env: { SSL_CERT_FILE: trusted, ...env } });
  }

  /** Calls the service from its network; throws what it refuses. */
  async must(path: string, parameters: object): Promise<Record<string, unknown>> {
    const code = `const [url, key, body] = process.argv.slice(1);
      const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
      fetch(url, { method: 'POST', headers, body }).then((r) => r.text()).then(console.log);`;
    const { url, apiKey } = this.service;
    const body = JSON.stringify(parameters);
    const answer = JSON.parse(await this.#host.node(code, `${url}${path}`, apiKey, body));
    if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  tool(name: string, parameters: object): Promise<Record<string, unknown>> {
    return this.must(`/v1/tools/${wholeName(name)}`, parameters);
  }

  /** Returns the output of a command inside. */
  async run(sandbox: string, command: string): Promise<string> {
    const { output } = await this.tool('RunCommand', { sandbox, command });
    return String(output).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const service = this.#service;
    if (service) {
      await service.terminate();
      const purge = ['purge', '--data-dir', service.dataDir, '--yes'];
      await once(spawn(join(this.folder, 'sandhaven'), purge), 'exit');
      rmSync(service.dataDir, { recursive: true, force: true });
    }
    for (const server of this.#servers) server.kill('SIGKILL');
    await this.#host[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startInternet(): Promise<void> {
    const authority = makeAuthority('test', Date.now());
    const { key, cert } = signLeaf(authority, HOST);
    for (const [name, text] of Object.entries({
      'ca.pem': authority.certificate,
      'key.pem': key,
      'cert.pem': cert,
    })) {
      writeFileSync(join(this.folder, name), text);
    }
    const [resolver = ''] = parseResolvConf(readFileSync('/etc/resolv.conf', 'utf8'));
    await this.#host.outside.run('ip', 'address', 'add', `${resolver}/32`, 'dev', 'lo');
    await this.#startOutside('../upstream.ts', resolver, 'test');
  }

  async #startOutside(program: string, ...args: string[]): Promise<ChildProcess> {
    const command = [process.execPath, join(import.meta.dirname, program), ...args];
    const server = spawn('nsenter', [`--net=${this.#host.outside.path}`, ...command], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#servers.push(server);
    await once(server.stdout, 'data');
    return server;
  }
}
