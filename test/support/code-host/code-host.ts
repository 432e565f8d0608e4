/**
 * A code-hosting provider on the host's loopback: GitHub's documented OAuth, device, REST and app endpoints in front of
 * the real Git backend. It hands out and takes tokens by its own rules; tests say who may see what, and play the person
 * in front of the browser.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GitServer, startGitServer } from '../git-server.ts';
import { appAnswer } from './code-host-app.ts';
import { oauthAnswer } from './code-host-oauth.ts';
import { gitRefusal, repositoryAnswer } from './code-host-repositories.ts';

export const clientId = 'Iv1.0123456789abcdef';
export const clientSecret = 'canary-client-secret-7c1e9d02';

export interface UserToken {
  login: string;
  scopes: string[];
  expiresAt: number;
}

export interface Repository {
  isPrivate: boolean;
  /** Who sees it, and who may push, by login. */
  readers: string[];
  writers: string[];
  /** What the app may do here; null where it is not installed. */
  installed: 'read' | 'write' | null;
  singleSignOn: boolean;
}

export interface CodeHostState {
  accounts: string[];
  repositories: Map<string, Repository>;
  codes: Map<string, { login: string; scopes: string[]; challenge: string; redirectUri: string }>;
  tokens: Map<string, UserToken>;
  refreshTokens: Map<string, { login: string; scopes: string[] }>;
  devices: Map<
    string,
    { userCode: string; scopes: string[]; login: string | null; denied: boolean; askedAt: number }
  >;
  installationTokens: Map<string, { repository: string; contents: string; expiresAt: number }>;
  /** Seconds; null: tokens do not expire and cannot be refreshed. */
  tokenSeconds: number | null;
  deviceInterval: number;
  /** What the person grants, when it is not what was asked for. */
  grantedScopes: string[] | null;
  app: { id: string; slug: string; publicKey: string };
  mode: 'oauth' | 'app';
  /** Every token and code that was ever handed out. */
  secrets: string[];
  /** One word for each thing that was asked. */
  asked: string[];
  /** Of times: milliseconds since the epoch. */
  now(): number;
}

export interface CodeHostServer {
  url: string;
  apiUrl: string;
  state: CodeHostState;
  git: GitServer;
  privateKeyPem: string;
  /** Gives the URL to clone. `owner/name`. */
  repository(name: string, rules?: Partial<Repository>): string;
  /** The person `login` opens an authorization URL and allows it, or not: where the browser is sent. */
  authorize(url: string, login: string, allow?: boolean): Promise<string>;
  /** The person types in a device's code. */
  enter(userCode: string, login: string, allow?: boolean): void;
  /** The person takes all back. */
  revokeAll(login: string): void;
  close(): Promise<void>;
}

export async function startCodeHost(
  options: { mode?: 'oauth' | 'app'; now?: () => number } = {},
): Promise<CodeHostServer> {
  const git = await startGitServer();
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const state: CodeHostState = {
    accounts: ['ada', 'bob', 'eve'],
    repositories: new Map(),
    codes: new Map(),
    tokens: new Map(),
    refreshTokens: new Map(),
    devices: new Map(),
    installationTokens: new Map(),
    tokenSeconds: null,
    deviceInterval: 1,
    grantedScopes: null,
    app: { id: '4242', slug: 'sandhaven-test', publicKey },
    mode: options.mode ?? 'oauth',
    secrets: [],
    asked: [],
    now: options.now ?? Date.now,
  };
  git.intercept = (request, response) => {
    void serve(state, request, response, () => {
      git.passThrough(request, response);
    });
    return true;
  };
  return {
    url: git.url,
    apiUrl: `${git.url}/api/v3`,
    state,
    git,
    privateKeyPem: privateKey,
    repository(name, rules = {}) {
      const [owner = ''] = name.split('/');
      const usual = {
        isPrivate: true,
        readers: [owner],
        writers: [owner],
        installed: null,
        singleSignOn: false,
      };
      state.repositories.set(name, { ...usual, ...rules });
      return git.create(name, { 'README.md': `${name}\n` });
    },
    async authorize(url, login, allow = true) {
      const headers = { 'x-person': login, 'x-allow': String(allow) };
      const response = await fetch(url, { redirect: 'manual', headers });
      const location = response.headers.get('location');
      if (location === null) throw new Error(`authorize: ${response.status} ${await response.text()}`);
      return location;
    },
    enter(userCode, login, allow = true) {
      const device = [...state.devices.values()].find((each) => each.userCode === userCode);
      if (!device) throw new Error('there is no such code');
      if (allow) device.login = login;
      else device.denied = true;
    },
    revokeAll(login) {
      for (const kept of [state.tokens, state.refreshTokens]) {
        for (const [token, { login: whose }] of kept) if (whose === login) kept.delete(token);
      }
    },
    close: () => git.close(),
  };
}

export interface Question {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  form: URLSearchParams;
  json: Record<string, unknown>;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

async function serve(
  state: CodeHostState,
  request: IncomingMessage,
  response: ServerResponse,
  passThrough: () => void,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (/\.git\//.test(url.pathname)) {
    const refused = gitRefusal(state, url, request.headers.authorization);
    if (!refused) return passThrough();
    response.writeHead(refused, refused === 401 ? { 'www-authenticate': 'Basic realm="GitHub"' } : {});
    response.end('refused');
    return;
  }
  const { method = '', headers } = request;
  const question = {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers,
    ...(await bodyOf(request)),
  };
  const answer = oauthAnswer(state, question) ??
    appAnswer(state, question) ??
    repositoryAnswer(state, question) ?? { status: 404, body: { message: 'Not Found' } };
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
}

async function bodyOf(request: IncomingMessage): Promise<Pick<Question, 'form' | 'json'>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
  return { form: new URLSearchParams(isJson ? '' : text), json: isJson ? JSON.parse(text) : {} };
}
