/** The machine's own OpenSSH against a service: logs in as users do, with the host key pinned. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, type Service } from '../../support/service.ts';

export interface Ran {
  code: number | null;
  signal: string | null;
  stdout: Buffer;
  stderr: string;
}

export interface Access {
  host: string;
  port: number;
  username: string;
  access_token: string;
  host_key: string;
  expires_at: string | null;
  command: string;
}

/** A folder for known hosts, control sockets and files; removed when it is disposed of. */
export class SshClient implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'sandhaven-ssh-'));
  readonly #children = new Set<ChildProcess>();

  options(access: Access, extra: string[] = []): string[] {
    const known = join(this.folder, `known-${access.port}`);
    // Once: another ssh may be reading it.
    if (!existsSync(known)) writeFileSync(known, `[${access.host}]:${access.port} ${access.host_key}\n`);
    const set = ['UserKnownHostsFile', known, 'StrictHostKeyChecking', 'yes', 'LogLevel', 'ERROR'];
    const pairs = set.flatMap((word, i) => (i % 2 === 0 ? ['-o', `${word}=${set[i + 1]}`] : []));
    // Of two values of one option the first holds.
    return [...extra, '-F', 'none', '-o', 'IdentitiesOnly=yes', '-o', 'IdentityFile=none', ...pairs];
  }

  /** `ssh` with the token as the user name, and no terminal to ask a password on. */
  ssh(
    access: Access,
    command: string[],
    { flags = [], ...rest }: RunOptions & { flags?: string[] } = {},
  ): Promise<Ran> {
    return this.run('ssh', this.arguments(access, flags, command), rest);
  }

  arguments(access: Access, flags: string[], command: string[]): string[] {
    const options = this.options(access, ['-o', 'BatchMode=yes', ...flags]);
    return [...options, '-p', `${access.port}`, `${access.access_token}@${access.host}`, ...command];
  }

  /** `ssh` that is told a password by a program, as by one of a desktop. */
  sshWithPassword(access: Access, username: string, password: string, command: string[]): Promise<Ran> {
    const askpass = join(this.folder, 'askpass');
    writeFileSync(askpass, '#!/bin/sh\nprintf "%s\\n" "$TEST_PASSWORD"\n', { mode: 0o700 });
    const options = this.options(access, ['-o', 'NumberOfPasswordPrompts=1']);
    const args = [...options, '-p', `${access.port}`, `${username}@${access.host}`, ...command];
    return this.run('ssh', args, {
      env: { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', TEST_PASSWORD: password },
    });
  }

  start(program: string, args: string[], { env = {} }: RunOptions = {}): ChildProcess {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    child.stdin?.on('error', () => {});
    return child;
  }

  async run(program: string, args: string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.start(program, args, options);
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin?.end(options.input ?? '');
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.once('close', (...end) => resolve(end)),
    );
    return { code, signal, stdout: Buffer.concat(stdout), stderr };
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface RunOptions {
  input?: Buffer | string;
  env?: Record<string, string>;
}

export async function accessTo(
  service: Pick<Service, 'url' | 'apiKey'>,
  sandbox: string,
  parameters: Record<string, unknown> = {},
): Promise<Access> {
  return (await must(service, 'CreateSshAccess', { sandbox, ...parameters })) as unknown as Access;
}

export async function makeSandbox(
  service: Pick<Service, 'url' | 'apiKey'>,
  parameters: Record<string, unknown> = {},
): Promise<string> {
  const small = { cpu: 1, memory_gb: 1, disk_gb: 2 };
  return String((await must(service, 'CreateSandbox', { ...small, ...parameters }))['id']);
}

export async function inside(
  service: Pick<Service, 'url' | 'apiKey'>,
  sandbox: string,
  command: string,
): Promise<string> {
  return String((await must(service, 'RunCommand', { sandbox, command }))['stdout']);
}

/** Fails when it does not become true in time. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
