/**
 * GitLab on the host's loopback: its documented OAuth, device and REST endpoints, without Git. It hands out and takes tokens by
 * its own rules; tests play the person in front of the browser.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const clientId = 'app-0123456789abcdef';
export const clientSecret = 'canary-gitlab-secret-5b7f';

interface Token {
  username: string;
  scope: string;
  expiresAt: number;
}

interface Project {
  visibility: 'private' | 'public';
  /** Access level of each member: 20 reads, 30 pushes. */
  members: Record<string, number>;
}

interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

interface Question {
  what: string;
  query: URLSearchParams;
  form: URLSearchParams;
  headers: IncomingHttpHeaders;
}

const SECONDS = 7_200;
const DEVICE_SECONDS = 300;
const REDIRECT = /^http:\/\/127\.0\.0\.1:\d+\/auth\/gitlab\/callback$/;

export class GitLabServer {
  readonly accounts = ['ada', 'bob'];
  readonly projects = new Map<string, Project>();
  readonly tokens = new Map<string, Token>();
  readonly #refreshTokens = new Map<string, string>();
  readonly #codes = new Map<string, { username: string; challenge: string; redirectUri: string }>();
  readonly #devices = new Map<string, { userCode: string; username: string | null; askedAt: number }>();
  /** What every application has to ask for, or gets less. */
  grantedScope = 'api';
  readonly #now: () => number;
  readonly #server = createServer(async (request, response) => {
    const answer = this.#answer(await questionOf(request));
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
  });

  constructor(now: () => number) {
    this.#now = now;
  }

  async open(): Promise<void> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Opens the page as this person, who agrees, and returns where the browser is sent. */
  async authorize(url: string, username: string): Promise<URL> {
    const response = await fetch(url, { redirect: 'manual', headers: { 'x-person': username } });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`authorize: ${response.status} ${await response.text()}`);
    return new URL(location);
  }

  /** Enters the code of a device as this person. */
  enter(userCode: string, username: string): void {
    const device = [...this.#devices.values()].find((each) => each.userCode === userCode);
    if (!device) throw new Error('there is no such code');
    device.username = username;
  }

  #answer({ what, query, form, headers }: Question): Answer {
    if (what === 'GET /oauth/authorize') return this.#page(query, headers);
    if (what === 'POST /oauth/authorize_device') return this.#device(form);
    if (what === 'POST /oauth/token') return this.#token(form);
    if (what === 'POST /oauth/revoke') return this.#revoke(form);
    const token = this.tokens.get(headers.authorization?.replace('Bearer ', '') ?? '');
    if (!token || token.expiresAt <= this.#now()) return { status: 401, body: { error: 'invalid_token' } };
    if (token.scope !== 'api') return { status: 403, body: { error: 'insufficient_scope', scope: 'api' } };
    if (what === 'GET /api/v4/user') {
      return {
        status: 200,
        body: { id: this.accounts.indexOf(token.username) + 1, username: token.username },
      };
    }
    const [, path = ''] = /^GET \/api\/v4\/projects\/([^/]+)$/.exec(what) ?? [];
    const project = this.projects.get(decodeURIComponent(path));
    const level = project?.members[token.username];
    if (!project || (project.visibility === 'private' && level === undefined))
      return { status: 404, body: {} };
    const access = level === undefined ? null : { access_level: level };
    const permissions = { project_access: null, group_access: access };
    return { status: 200, body: { visibility: project.visibility, permissions } };
  }

  #page(query: URLSearchParams, headers: IncomingHttpHeaders): Answer {
    const redirectUri = query.get('redirect_uri') ?? '';
    const isSound =
      query.get('client_id') === clientId &&
      query.get('response_type') === 'code' &&
      query.get('scope') === 'api' &&
      query.get('code_challenge_method') === 'S256' &&
      REDIRECT.test(redirectUri);
    if (!isSound) return { status: 400, body: 'no such application, or no sound request' };
    const code = randomBytes(20).toString('hex');
    const challenge = query.get('code_challenge') ?? '';
    this.#codes.set(code, { username: String(headers['x-person']), challenge, redirectUri });
    const location = `${redirectUri}?code=${code}&state=${query.get('state')}`;
    return { status: 302, headers: { location } };
  }

  #device(form: URLSearchParams): Answer {
    if (form.get('client_id') !== clientId) return refusal(401, 'invalid_client');
    const code = randomBytes(20).toString('hex');
    const userCode = randomBytes(4).toString('hex').toUpperCase();
    this.#devices.set(code, { userCode, username: null, askedAt: this.#now() });
    const place = { verification_uri: `${this.url}/oauth/device`, expires_in: DEVICE_SECONDS, interval: 5 };
    return { status: 200, body: { device_code: code, user_code: userCode, ...place } };
  }

  #token(form: URLSearchParams): Answer {
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret) {
      return refusal(401, 'invalid_client');
    }
    if (form.get('grant_type') === 'refresh_token') {
      const refreshToken = form.get('refresh_token') ?? '';
      const username = this.#refreshTokens.get(refreshToken);
      this.#refreshTokens.delete(refreshToken);
      return username === undefined ? refusal(400, 'invalid_grant') : this.#made(username);
    }
    if (form.get('grant_type') === 'authorization_code') return this.#ofCode(form);
    return this.#ofDevice(form);
  }

  #ofCode(form: URLSearchParams): Answer {
    const code = form.get('code') ?? '';
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isGood = known?.challenge === challenge && known.redirectUri === form.get('redirect_uri');
    return known && isGood ? this.#made(known.username) : refusal(400, 'invalid_grant');
  }

  #ofDevice(form: URLSearchParams): Answer {
    const code = form.get('device_code') ?? '';
    const device = this.#devices.get(code);
    if (!device) return refusal(400, 'expired_token');
    const isEarly = this.#now() - device.askedAt < 5_000;
    device.askedAt = this.#now();
    if (isEarly) return refusal(400, 'slow_down');
    if (device.username === null) return refusal(400, 'authorization_pending');
    this.#devices.delete(code);
    return this.#made(device.username);
  }

  #made(username: string): Answer {
    const [token, refreshToken] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    const expiresAt = this.#now() + SECONDS * 1_000;
    this.tokens.set(token, { username, scope: this.grantedScope, expiresAt });
    this.#refreshTokens.set(refreshToken, username);
    const names = { access_token: token, token_type: 'Bearer', refresh_token: refreshToken };
    return { status: 200, body: { ...names, expires_in: SECONDS, scope: this.grantedScope } };
  }

  #revoke(form: URLSearchParams): Answer {
    if (form.get('client_secret') !== clientSecret) return refusal(403, 'unauthorized_client');
    this.tokens.delete(form.get('token') ?? '');
    return { status: 200, body: {} };
  }
}

function refusal(status: number, error: string): Answer {
  return { status, body: { error, error_description: `because of ${error}` } };
}

async function questionOf(request: IncomingMessage): Promise<Question> {
  let text = '';
  for await (const chunk of request) text += chunk;
  const url = new URL(request.url ?? '/', 'http://localhost');
  const what = `${request.method} ${url.pathname}`;
  return { what, query: url.searchParams, form: new URLSearchParams(text), headers: request.headers };
}
