/**
 * The service as an app that is installed at repositories: it authenticates with a signed token of its own, and
 * receives one-hour tokens for one repository and one permission. Memory holds them until shortly before they expire.
 */
import { createSign, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { Clock, ContentsAccess, InstallationToken } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { RepositoryName } from '../model/provider.ts';
import * as http from './http.ts';
import { notAsDocumented } from './http.ts';

export interface AppIdentity {
  id: string;
  slug: string;
  privateKey: KeyObject;
}

const JWT_AHEAD_SECONDS = 540;
/** The provider's clock may be behind. */
const JWT_BEHIND_SECONDS = 60;

const installation = z.object({ id: z.int().min(1), suspended_at: z.string().nullish() });
const minted = z.object({
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .max(limits.provider.tokenChars),
  expires_at: z.iso.datetime({ offset: true }),
});

type Kept = Extract<InstallationToken, { kind: 'token' }>;

export class App {
  readonly #identity: AppIdentity;
  readonly #apiUrl: string;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<InstallationToken>>();

  constructor(identity: AppIdentity, apiUrl: string, clock: Clock) {
    this.#identity = identity;
    this.#apiUrl = apiUrl;
    this.#clock = clock;
  }

  async token(repository: RepositoryName, contents: ContentsAccess): Promise<InstallationToken> {
    const key = keyOf(repository, contents);
    const kept = this.#kept.get(key);
    if (kept && kept.expiresAt - limits.provider.renewAheadMs > this.#clock.now()) return kept;
    const asking = this.#asking.get(key) ?? this.#ask(repository, contents);
    this.#asking.set(key, asking);
    try {
      const answer = await asking;
      if (answer.kind === 'token') this.#keep(key, answer);
      return answer;
    } finally {
      this.#asking.delete(key);
    }
  }

  forget(repository: RepositoryName): void {
    this.#kept.delete(keyOf(repository, 'read'));
    this.#kept.delete(keyOf(repository, 'write'));
  }

  async #ask({ owner, name }: RepositoryName, contents: ContentsAccess): Promise<InstallationToken> {
    const found = `${this.#apiUrl}/repos/${owner}/${name}/installation`;
    const authorization = `Bearer ${this.#jwt()}`;
    const where = await ask({ method: 'GET', url: found, authorization });
    if (where.status === 404) return { kind: 'not-installed' };
    const at = installation.safeParse(where.body);
    if (where.status !== 200 || !at.success) throw notAsDocumented(found, where);
    if (at.data.suspended_at) return { kind: 'not-permitted' };
    const url = `${this.#apiUrl}/app/installations/${at.data.id}/access_tokens`;
    const json = { repositories: [name], permissions: { contents } };
    const reply = await ask({ method: 'POST', url, authorization, json });
    if ([403, 422].includes(reply.status)) return { kind: 'not-permitted' };
    if (reply.status === 404) return { kind: 'not-installed' };
    const made = minted.safeParse(reply.body);
    if (reply.status !== 201 || !made.success) throw notAsDocumented(url, reply);
    return { kind: 'token', token: made.data.token, expiresAt: Date.parse(made.data.expires_at) };
  }

  #keep(key: string, token: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, token);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > limits.provider.installationTokens && oldest !== undefined) {
      this.#kept.delete(oldest);
    }
  }

  #jwt(): string {
    const now = Math.floor(this.#clock.now() / 1_000);
    const claims = { iat: now - JWT_BEHIND_SECONDS, exp: now + JWT_AHEAD_SECONDS, iss: this.#identity.id };
    const signed = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
    const signature = createSign('RSA-SHA256').update(signed).sign(this.#identity.privateKey, 'base64url');
    return `${signed}.${signature}`;
  }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function keyOf({ owner, name }: RepositoryName, contents: ContentsAccess): string {
  return `${owner}/${name} ${contents}`.toLowerCase();
}

const API_VERSION = '2022-11-28';

/** One request to the API, in the version that this adapter knows. Fails like `ask` of every provider. */
export function ask(asked: http.Ask): Promise<http.Reply> {
  return http.ask({ ...asked, headers: { 'x-github-api-version': API_VERSION } });
}
