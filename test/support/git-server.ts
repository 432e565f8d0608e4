/**
 * A real Git server on the host's loopback: `git http-backend` behind a small CGI server, with basic authentication
 * where a user is given. Repositories are bare, below a folder that is removed at the end.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
}

export interface GitServer {
  /** Without a slash at its end. */
  url: string;
  port: number;
  /** Every request that came, refused ones included. */
  requests: SeenRequest[];
  /** Makes `<name>.git` with one commit of these files on `main`; an empty repository without files. */
  create(name: string, files?: Record<string, string>): string;
  /** Adds a commit to a branch of `<name>.git`, from outside of any sandbox. Gives its hash. */
  commit(
    name: string,
    files: Record<string, string>,
    options?: { branch?: string; message?: string },
  ): string;
  /** Runs git on `<name>.git`. */
  git(name: string, ...args: string[]): string;
  /** A folder with one hook, for `core.hooksPath`. */
  hookFolder(name: string, script: string): string;
  /** Answers in place of the backend when it gives true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** The backend's answer, for an interceptor that lets a request through after all. */
  passThrough(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export interface GitUser {
  username: string;
  password: string;
}

const identity = {
  GIT_AUTHOR_NAME: 'Server',
  GIT_AUTHOR_EMAIL: 'server@example.org',
  GIT_COMMITTER_NAME: 'Server',
  GIT_COMMITTER_EMAIL: 'server@example.org',
};
const env = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  ...identity,
};
const settings = [
  '-c',
  'safe.directory=*',
  '-c',
  'init.defaultBranch=main',
  '-c',
  'protocol.file.allow=always',
  '-c',
  'gc.auto=0',
];

export async function startGitServer(user?: GitUser): Promise<GitServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-git-server-'));
  const expected = user && `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', [...settings, ...args], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const bare = (name: string) => join(folder, 'served', `${name}.git`);

  const http = createServer((request, response) => {
    server.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    if (server.intercept?.(request, response)) return;
    if (expected && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you');
      return;
    }
    gitBackend(join(folder, 'served'), request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;

  const server: GitServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: [],
    intercept: null,
    passThrough: (request, response) => gitBackend(join(folder, 'served'), request, response),
    create(name, files) {
      const path = bare(name);
      mkdirSync(path, { recursive: true });
      git(path, 'init', '--quiet', '--bare');
      git(path, 'config', 'http.receivepack', 'true');
      if (files) server.commit(name, files, { message: 'first' });
      return `${server.url}/${name}.git`;
    },
    commit(name, files, { branch = 'main', message = 'more' } = {}) {
      const work = mkdtempSync(join(folder, 'work-'));
      git(work, 'clone', '--quiet', bare(name), '.');
      const has = git(work, 'branch', '--remotes', '--list', `origin/${branch}`) !== '';
      git(work, 'checkout', '--quiet', ...(has ? [branch] : ['-B', branch]));
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(work, file)), { recursive: true });
        writeFileSync(join(work, file), content);
      }
      git(work, 'add', '--all');
      git(work, 'commit', '--quiet', '--allow-empty', '-m', message);
      git(work, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
      const hash = git(work, 'rev-parse', 'HEAD').trim();
      rmSync(work, { recursive: true });
      return hash;
    },
    git: (name, ...args) => git(bare(name), ...args),
    hookFolder(name, script) {
      const hooks = mkdtempSync(join(folder, 'hooks-'));
      writeFileSync(join(hooks, name), script, { mode: 0o755 });
      return hooks;
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** Answers one request by `git http-backend`, for the repositories below a folder. */
export function gitBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
    env: {
      ...env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      REMOTE_USER: 'someone',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  response.once('close', () => child.kill());
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const headers = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/:\s*/, 2) as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1] ?? '200';
    response.writeHead(
      Number.parseInt(status, 10),
      headers.filter(([name]) => name.toLowerCase() !== 'status').flat(),
    );
    response.write(head.subarray(end + 4));
  });
  child.once('close', () => response.end());
}
